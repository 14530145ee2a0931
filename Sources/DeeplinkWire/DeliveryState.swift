/// Where a delivery is, in the words of replies and signals.
public enum DeliveryState: String, Sendable, Hashable, CaseIterable {
  case accepted, asking, waiting, starting
  case handingOver = "handing-over"

  // The outcomes: a delivery ends in exactly one.
  case delivered, declined, denied
  case consentUnavailable = "consent-unavailable"
  case failed
  case timedOut = "timed-out"
  case interrupted, expired, cancelled

  public var isOutcome: Bool {
    switch self {
    case .accepted, .asking, .waiting, .starting, .handingOver: false
    default: true
    }
  }
}

/// Why an outcome is `failed`.
public enum FailureReason: String, Sendable, Hashable, CaseIterable {
  /// The target could not be started, or was not ready in time.
  case launch
  /// It ended with a status other than 0.
  case exit
  /// It answered with an error.
  case error
  /// It went over a limit of time, output or number.
  case limit
}
