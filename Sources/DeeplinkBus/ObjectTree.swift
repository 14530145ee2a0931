import DeeplinkLoop

/// The objects that one connection serves, with the standard interfaces of each.
@LoopActor final class ObjectTree {
  private var objects: [ObjectPath: [Interface]] = [:]

  nonisolated init() {}

  func export(_ interfaces: [Interface], at path: ObjectPath) { objects[path] = interfaces }
  func remove(_ path: ObjectPath) { objects[path] = nil }

  func handle(_ call: IncomingCall) {
    let interfaces = objects[call.path]
    // The usual call, which needs none of what is put together below for people who look around.
    if let name = call.interface, let interface = interfaces?.first(where: { $0.name == name }),
      let method = interface.methods.first(where: { $0.name == call.member })
    {
      return run(method, call)
    }
    let children = children(of: call.path)
    guard interfaces != nil || !children.isEmpty else {
      return call.fail(.unknownObject, "there is no object \(call.path)")
    }
    let standard = standardInterfaces(interfaces ?? [], children, at: call.path)
    let all = (interfaces ?? []) + standard
    guard let name = call.interface else {
      guard let method = all.lazy.flatMap(\.methods).first(where: { $0.name == call.member }) else {
        return call.fail(.unknownMethod, "\(call.path) has no method \(call.member)")
      }
      return run(method, call)
    }
    guard let interface = all.first(where: { $0.name == name }) else {
      return call.fail(.unknownInterface, "\(call.path) has no interface \(name)")
    }
    guard let method = interface.methods.first(where: { $0.name == call.member }) else {
      return call.fail(.unknownMethod, "\(name) has no method \(call.member)")
    }
    run(method, call)
  }

  private func run(_ method: Method, _ call: IncomingCall) {
    guard call.takeArguments(of: method) else { return }
    call.replySignature = method.outputSignature
    method.handler(call)
    // One that is answered later must not hold what it was sent.
    call.dropArguments()
  }

  /// The names of the nodes right below `path`, for tools that walk the tree.
  private func children(of path: ObjectPath) -> [String] {
    let prefix = path.text == "/" ? "/" : path.text + "/"
    let names = objects.keys.filter { $0.text.hasPrefix(prefix) && $0 != path }.map {
      String($0.text.dropFirst(prefix.count).prefix { $0 != "/" })
    }
    return Set(names).sorted()
  }

  // MARK: Standard interfaces (D-Bus specification, "Standard Interfaces")

  /// `org.freedesktop.DBus.Peer` is answered by libdbus itself, before any of this.
  private func standardInterfaces(
    _ interfaces: [Interface], _ children: [String], at path: ObjectPath
  ) -> [Interface] {
    var standard: [Interface] = []
    if interfaces.contains(where: { !$0.properties.isEmpty }) {
      standard.append(properties(of: interfaces))
    }
    standard.append(
      Interface(
        "org.freedesktop.DBus.Introspectable",
        methods: [
          Method("Introspect", out: [Argument("xml_data", "s")]) { [standard] call in
            let introspectable = Interface(
              "org.freedesktop.DBus.Introspectable",
              methods: [Method("Introspect", out: [Argument("xml_data", "s")]) { _ in }])
            call.reply(
              .string(
                Introspection.document(
                  interfaces: interfaces + standard + [introspectable, .peer], children: children)))
          }
        ]))
    return standard
  }

  private func properties(of interfaces: [Interface]) -> Interface {
    func declared(_ call: IncomingCall) -> [Property]? {
      let name = call.arguments.first?.string ?? ""
      // An empty name means any interface.
      if name.isEmpty { return interfaces.flatMap(\.properties) }
      guard let interface = interfaces.first(where: { $0.name.text == name }) else {
        call.fail(.unknownInterface, "\(call.path) has no interface \(name)")
        return nil
      }
      return interface.properties
    }
    func property(_ call: IncomingCall) -> Property? {
      guard let declared = declared(call) else { return nil }
      let name = call.arguments[1].string ?? ""
      guard let property = declared.first(where: { $0.name.text == name }) else {
        call.fail(.unknownProperty, "there is no property \(name)")
        return nil
      }
      return property
    }
    return Interface(
      "org.freedesktop.DBus.Properties",
      methods: [
        Method(
          "Get", in: [Argument("interface_name", "s"), Argument("property_name", "s")],
          out: [Argument("value", "v")]
        ) { call in
          if let property = property(call) { call.reply(.variant(property.value())) }
        },
        Method(
          "GetAll", in: [Argument("interface_name", "s")], out: [Argument("properties", "a{sv}")]
        ) { call in
          guard let declared = declared(call) else { return }
          call.reply(
            .options(declared.reduce(into: [:]) { $0[$1.name.text] = $1.value() }))
        },
        Method(
          "Set",
          in: [
            Argument("interface_name", "s"), Argument("property_name", "s"), Argument("value", "v"),
          ]
        ) { call in
          if let property = property(call) {
            call.fail(.propertyReadOnly, "\(property.name) cannot be set")
          }
        },
      ],
      signals: [
        SignalDeclaration(
          "PropertiesChanged",
          [
            Argument("interface_name", "s"), Argument("changed_properties", "a{sv}"),
            Argument("invalidated_properties", "as"),
          ])
      ])
  }
}

extension Interface {
  fileprivate static var peer: Interface {
    Interface(
      "org.freedesktop.DBus.Peer",
      methods: [
        Method("Ping") { _ in },
        Method("GetMachineId", out: [Argument("machine_uuid", "s")]) { _ in },
      ])
  }
}

extension Connection {
  /// Serves `interfaces` at `path`, with Introspectable, Properties and Peer.
  ///
  /// Export before asking for a name: the bus holds the first call until the name is owned.
  public func export(_ interfaces: [Interface], at path: ObjectPath) {
    objects.export(interfaces, at: path)
  }

  public func unexport(_ path: ObjectPath) { objects.remove(path) }
}
