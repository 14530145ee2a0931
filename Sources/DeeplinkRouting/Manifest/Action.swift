/// What is done with a link that matched: the manifest's description, one struct a kind.
public enum Action: Sendable, Hashable {
  case application(Application)
  case handler(Handler)
  case worker(Worker)
  case command(Command)
  case call(Call)
  case open(OpenURL)
  case notify(Notify)

  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case application, handler, worker, command, call, open, notify
  }

  public var kind: Kind {
    switch self {
    case .application: .application
    case .handler: .handler
    case .worker: .worker
    case .command: .command
    case .call: .call
    case .open: .open
    case .notify: .notify
    }
  }

  /// What a link may cause through an action of this kind where the author says nothing.
  public var defaultEffect: Effect {
    switch self {
    case .command, .call: .change
    case .application, .handler, .worker, .open, .notify: .view
    }
  }

  /// Nil for `application`, `handler`, `call`, `open` and `notify`, which start no program of the
  /// plugin's in a sandbox.
  public var sandbox: Sandbox? {
    switch self {
    case .worker(let worker): worker.sandbox
    case .command(let command): command.sandbox
    default: nil
    }
  }
}

/// How a target is started and how many links it takes at once.
public struct TargetLimits: Sendable, Hashable {
  /// Nil: the settings' `launchTimeout`.
  public var launchTimeout: Duration?
  /// Links handed over and unanswered.
  public var concurrency: Int

  public init(launchTimeout: Duration? = nil, concurrency: Int = 16) {
    self.launchTimeout = launchTimeout
    self.concurrency = concurrency
  }
}

extension Action {
  /// A desktop entry, given the link as any opener would.
  public struct Application: Sendable, Hashable {
    /// Without the suffix `.desktop`.
    public var desktopEntry: String
    public var limits: TargetLimits
  }

  /// An app that implements `org.deeplinkd.Handler1`.
  public struct Handler: Sendable, Hashable {
    public var busName: String
    /// Empty: the bus starts it.
    public var launch: [String]
    public var limits: TargetLimits
  }

  /// A process that stays and is handed links on its standard input.
  public struct Worker: Sendable, Hashable {
    public var run: [String]
    public var idleTimeout: Duration
    public var sandbox: Sandbox
    public var limits: TargetLimits
  }

  /// One process for each link.
  public struct Command: Sendable, Hashable {
    public enum Input: String, Sendable, Hashable, CaseIterable {
      /// The context as JSON on standard input.
      case context
    }

    /// One template for each argument; the first has no names.
    public var run: [Template]
    public var input: Input?
    public var sandbox: Sandbox
    public var timeLimit: Duration
  }

  /// One D-Bus method.
  public struct Call: Sendable, Hashable {
    public enum Bus: String, Sendable, Hashable, CaseIterable {
      case session, system
    }

    public var bus: Bus
    public var busName: String
    public var path: String
    public var interface: String
    public var member: String
    public var signature: String
    /// As many as the signature has complete types.
    public var arguments: [ValueTemplate]
  }

  /// Another URL, opened in its default application.
  public struct OpenURL: Sendable, Hashable {
    public var url: URLTemplate
  }

  /// A desktop notification.
  public struct Notify: Sendable, Hashable {
    public var title: Template
    public var body: Template?
  }
}

/// What a link can cause through a route.
public enum Effect: String, Sendable, Hashable, CaseIterable {
  /// Something is shown, or a sign-in is completed.
  case view
  /// Something of the person's may be altered, sent, bought or deleted.
  case change
}

/// What the processes of `worker` and `command` can reach.
public enum Sandbox: Sendable, Hashable {
  /// `"none"`: what the person can reach.
  case none
  case confined(Openings)

  public struct Openings: Sendable, Hashable {
    public var network = false
    public var session = false
    public var read: [String] = []
    public var write: [String] = []

    public init(
      network: Bool = false, session: Bool = false, read: [String] = [], write: [String] = []
    ) {
      self.network = network
      self.session = session
      self.read = read
      self.write = write
    }
  }
}

extension Sandbox: CustomStringConvertible {
  /// What the sandbox opens, for the person who is asked to agree: `network, read ~/Pictures`.
  public var description: String {
    guard case .confined(let openings) = self else { return "everything (no sandbox)" }
    let opened =
      (openings.network ? ["network"] : []) + (openings.session ? ["session"] : [])
      + openings.read.map { "read \($0)" } + openings.write.map { "write \($0)" }
    return opened.isEmpty ? "nothing" : opened.joined(separator: ", ")
  }
}
