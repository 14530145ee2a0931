/// What a person can set; each with its default (times in seconds in the file).
public struct Settings: Hashable, Sendable {
  /// Of a link, in bytes.
  public var maximumLength = 65_536
  public var maximumHops = 3
  /// Until a target must be ready.
  public var launchTimeout = Duration.seconds(20)
  /// Until a target must have answered.
  public var timeout = Duration.seconds(30)
  /// How old an accepted link may be when a daemon that was started again hands it over.
  public var expiry = Duration.seconds(60)
  public var queue = Queue()

  /// How many links may wait.
  public struct Queue: Hashable, Sendable {
    public var perTarget = 1024
    public var total = 4096
  }

  public init() {}
}
