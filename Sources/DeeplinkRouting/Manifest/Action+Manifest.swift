extension Action {
  /// An action object: exactly one key, its kind.
  init?(_ value: JSONValue, at path: String, in diagnostics: Diagnostics) {
    let kinds = Kind.allCases.map(\.rawValue)
    guard let outer = ObjectReader(value, at: path, keys: kinds, in: diagnostics) else {
      return nil
    }
    let present = Kind.allCases.filter { outer.has($0.rawValue) }
    guard let kind = present.first, outer.members.count == 1 else {
      if outer.members.isEmpty || present.count > 1 {
        diagnostics.error(
          path, "an action has exactly one kind", hint: "one of \(kinds.joined(separator: ", "))")
      }
      return nil
    }
    func reader(_ keys: [String]) -> ObjectReader? {
      ObjectReader(
        outer.members[kind.rawValue] ?? .null, at: outer.path(of: kind.rawValue), keys: keys,
        in: diagnostics)
    }
    let action: Action? =
      switch kind {
      case .application:
        reader(["desktopEntry"] + TargetLimits.keys).flatMap(Application.init).map(
          Action.application)
      case .handler:
        reader(["busName", "launch"] + TargetLimits.keys).flatMap(Handler.init).map(Action.handler)
      case .worker:
        reader(["run", "idleTimeout", "sandbox"] + TargetLimits.keys).flatMap(Worker.init)
          .map(Action.worker)
      case .command:
        reader(["run", "input", "sandbox", "timeLimit"]).flatMap(Command.init).map(Action.command)
      case .call:
        reader(["bus", "busName", "path", "interface", "member", "signature", "arguments"])
          .flatMap(Call.init).map(Action.call)
      case .open: reader(["url"]).flatMap(OpenURL.init).map(Action.open)
      case .notify: reader(["title", "body"]).flatMap(Notify.init).map(Action.notify)
      }
    guard let action else { return nil }
    self = action
  }
}

extension TargetLimits {
  static let keys = ["launchTimeout", "concurrency"]

  init(_ reader: ObjectReader) {
    self.init(launchTimeout: reader.seconds("launchTimeout"))
    if let count = reader.integer("concurrency", in: 1...1_024) { concurrency = Int(count) }
  }
}

extension Action.Application {
  init?(_ reader: ObjectReader) {
    let limits = TargetLimits(reader)
    guard let text = reader.string("desktopEntry", required: true) else { return nil }
    let id = text.hasSuffix(".desktop") ? String(text.dropLast(8)) : text
    guard !id.isEmpty, id.utf8.count <= 247, !id.contains("/"), !id.hasPrefix("."),
      !id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      reader.error(
        "desktopEntry", "'\(text)' is no desktop file id", hint: "such as org.example.App.desktop")
      return nil
    }
    self.init(desktopEntry: id, limits: limits)
  }
}

extension Action.Handler {
  init?(_ reader: ObjectReader) {
    let launch = reader.has("launch") ? reader.program("launch") : []
    let limits = TargetLimits(reader)
    guard
      let busName = reader.busString("busName", "D-Bus name", BusNames.isWellKnownName),
      let launch
    else { return nil }
    self.init(busName: busName, launch: launch, limits: limits)
  }
}

extension Action.Worker {
  init?(_ reader: ObjectReader) {
    let run = reader.program("run")
    let idleTimeout = reader.seconds("idleTimeout") ?? .seconds(300)
    let sandbox = Sandbox(reader)
    let limits = TargetLimits(reader)
    guard let run else { return nil }
    self.init(run: run, idleTimeout: idleTimeout, sandbox: sandbox, limits: limits)
  }
}

extension Action.Command {
  init?(_ reader: ObjectReader) {
    let run = reader.arguments("run")
    let input = reader.word("input", Input.self)
    let sandbox = Sandbox(reader)
    let timeLimit = reader.seconds("timeLimit") ?? .seconds(30)
    guard let run else { return nil }
    self.init(run: run, input: input, sandbox: sandbox, timeLimit: timeLimit)
  }
}

extension Action.Call {
  init?(_ reader: ObjectReader) {
    let bus = reader.word("bus", Bus.self) ?? .session
    let busName = reader.busString("busName", "D-Bus name", BusNames.isWellKnownName)
    let path = reader.busString("path", "object path", BusNames.isObjectPath)
    let interface = reader.busString("interface", "interface name", BusNames.isInterface)
    let member = reader.busString("member", "method name", BusNames.isMember)
    let signature = reader.string("signature") ?? ""
    let arguments = Self.readArguments(reader, signature: signature)
    guard let busName, let path, let interface, let member else { return nil }
    self.init(
      bus: bus, busName: busName, path: path, interface: interface, member: member,
      signature: signature, arguments: arguments)
  }

  private static func readArguments(_ reader: ObjectReader, signature: String) -> [ValueTemplate] {
    let path = reader.path(of: "arguments")
    let elements = reader.members["arguments"] ?? []
    guard let elements = elements.array else {
      reader.error("arguments", "expected a list, found \(elements.kind)")
      return []
    }
    if let types = BusNames.completeTypes(in: signature) {
      if types.contains(where: { $0.contains("h") }) {
        reader.error("signature", "a file descriptor ('h') can not be sent")
      }
      if types.count != elements.count {
        reader.error(
          "arguments",
          "has \(elements.count) values, and the signature '\(signature)' \(types.count) types")
      }
    } else {
      reader.error("signature", "'\(signature)' is no D-Bus signature")
    }
    return elements.enumerated().map {
      ValueTemplate($1, at: "\(path)[\($0)]", in: reader.diagnostics)
    }
  }
}

extension Action.OpenURL {
  init?(_ reader: ObjectReader) {
    guard let text = reader.string("url", required: true) else { return nil }
    do throws(Template.Invalid) { self.init(url: try URLTemplate(text)) } catch {
      reader.error("url", error.reason, hint: error.hint)
      return nil
    }
  }
}

extension Action.Notify {
  init?(_ reader: ObjectReader) {
    let body = reader.template("body")
    guard let title = reader.template("title", required: true) else { return nil }
    self.init(title: title, body: body)
  }
}

extension Sandbox {
  static let keys = ["network", "session", "read", "write"]

  /// The member `sandbox`; without it nothing is open.
  init(_ outer: ObjectReader) {
    self = .confined(Openings())
    guard let value = outer.members["sandbox"] else { return }
    if let word = value.string {
      if word == "none" {
        self = .none
      } else {
        outer.error("sandbox", "'\(word)' is no sandbox", hint: "\"none\", or an object")
      }
      return
    }
    let path = outer.path(of: "sandbox")
    guard let reader = ObjectReader(value, at: path, keys: Self.keys, in: outer.diagnostics)
    else { return }
    self = .confined(
      Openings(
        network: reader.boolean("network") ?? false, session: reader.boolean("session") ?? false,
        read: Self.readPaths("read", reader), write: Self.readPaths("write", reader)))
  }

  private static func readPaths(_ key: String, _ reader: ObjectReader) -> [String] {
    let paths = reader.strings(key) ?? []
    for (index, path) in paths.enumerated() where !isPath(path) {
      reader.diagnostics.error(
        "\(reader.path(of: key))[\(index)]", "'\(path)' is no path that can be opened",
        hint: "an absolute one, or one that begins with '~/'; without '..'")
    }
    return paths
  }

  private static func isPath(_ text: String) -> Bool {
    (text.hasPrefix("/") || text.hasPrefix("~/") || text == "~")
      && !text.split(separator: "/").contains("..")
      && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}

extension ObjectReader {
  /// A string that goes into a D-Bus message header.
  fileprivate func busString(
    _ key: String, _ kind: String, _ isValid: (String) -> Bool
  ) -> String? {
    guard let text = string(key, required: true) else { return nil }
    if isValid(text) { return text }
    error(key, "'\(text)' is no \(kind)")
    return nil
  }

  /// A program and its arguments, split by the author.
  fileprivate func arguments(_ key: String) -> [Template]? {
    let place = path(of: key)
    guard let texts = strings(key, required: true) else {
      return nil
    }
    if texts.first?.isEmpty ?? true {
      error(key, "names no program", hint: "a list: the program, then each argument")
      return nil
    }
    if texts.count > 1_000 || texts.contains(where: { $0.utf8.contains(0) }) {
      error(key, "has more than 1000 arguments, or one with a NUL")
    }
    let templates = texts.enumerated().compactMap { template($1, at: "\(place)[\($0)]") }
    return templates.count == texts.count ? templates : nil
  }

  /// The arguments of a program that serves many links: none of them is a link's.
  fileprivate func program(_ key: String) -> [String]? {
    guard let templates = arguments(key) else { return nil }
    return templates.enumerated().compactMap { index, template in
      if let literal = template.literal { return literal }
      diagnostics.error(
        "\(path(of: key))[\(index)]",
        "the program is started once for many links, so it has no parameters",
        hint: "it is handed each link's parameters when it runs; '{{' stands for a brace")
      return nil
    }
  }
}
