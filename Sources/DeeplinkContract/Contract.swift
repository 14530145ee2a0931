/// Names that others build on: of the bus, of options, of errors.
///
/// Constants alone, as `StaticString`s, because the handler shares this file and has no Unicode
/// tables: compiled into its own module, as Embedded Swift cannot import this one. The manual of
/// each is the interface's XML file.
public enum Contract {
  /// The daemon's well-known name and desktop-entry id.
  public static let busName: StaticString = "org.deeplinkd.Deeplinkd"
  public static let path: StaticString = "/org/deeplinkd/Deeplinkd"
  public static let version: StaticString = "0.1.0"

  public enum Dispatcher {
    public static let interface: StaticString = "org.deeplinkd.Dispatcher1"
    public static let open: StaticString = "Open"
    public static let submit: StaticString = "Submit"
    public static let canOpen: StaticString = "CanOpen"
    public static let explain: StaticString = "Explain"
    public static let cancel: StaticString = "Cancel"
    public static let registerScene: StaticString = "RegisterScene"
    public static let activateScene: StaticString = "ActivateScene"
    public static let unregisterScene: StaticString = "UnregisterScene"
    public static let listPlugins: StaticString = "ListPlugins"
    public static let history: StaticString = "History"
    public static let follow: StaticString = "Follow"
    public static let reload: StaticString = "Reload"
    public static let deliveryChanged: StaticString = "DeliveryChanged"
  }

  /// `org.freedesktop.Application` (Desktop Entry specification, "D-Bus Activation").
  public enum Application {
    public static let interface: StaticString = "org.freedesktop.Application"
    public static let activate: StaticString = "Activate"
    public static let open: StaticString = "Open"
    public static let activateAction: StaticString = "ActivateAction"
  }

  /// `org.deeplinkd.Handler1`, which apps implement.
  public enum Handler {
    public static let interface: StaticString = "org.deeplinkd.Handler1"
    public static let open: StaticString = "Open"
  }

  /// Keys of the options of `Open` and `Submit`.
  public enum Option {
    public static let activationToken: StaticString = "activation-token"
    public static let startupID: StaticString = "desktop-startup-id"
    public static let parentWindow: StaticString = "parent-window"
    public static let timeout: StaticString = "timeout"
    public static let request: StaticString = "request"
    public static let environment: StaticString = "environment"
    public static let interactive: StaticString = "interactive"
    public static let callback: StaticString = "callback"
  }

  /// Every refusal is an error of this name and the refusal's code in CamelCase.
  public static let errorPrefix: StaticString = "org.deeplinkd.Error."
}

/// What a delivery came to, as it stands in replies and signals.
public enum Outcome {
  public static let delivered: StaticString = "delivered"
  public static let pending: StaticString = "pending"
}

/// The numbers of xdg-open, which passes the handler's on.
public enum ExitCode {
  /// Accepted; with waiting: delivered, or still pending.
  public static let accepted: Int32 = 0
  /// Wrong usage, or a link that is refused.
  public static let refused: Int32 = 1
  /// The daemon cannot be reached or started.
  public static let unreachable: Int32 = 3
  /// Any other outcome.
  public static let failed: Int32 = 4
}

/// Limits in seconds.
public enum Limit {
  /// A call that may start the daemon: the bus gives a start 120 s, and then an answer is due.
  public static let call = 130
  /// What `Open` waits for an outcome, in milliseconds: below the usual client's 25 s.
  public static let openMilliseconds: UInt32 = 20_000
}
