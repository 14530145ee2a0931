import DeeplinkBus
import DeeplinkLoop
import DeeplinkWire

/// Who may ask for what: some members are not for sandboxed callers.
@LoopActor struct Callers {
  let connection: Connection
  let sources: SourceFinder

  /// Throws `AccessDenied` for a caller in a sandbox, or one that cannot be looked at.
  func requireUnconfined(_ sender: UniqueName?) async throws(DispatcherError) {
    guard let sender, await !sources.source(of: sender).isConfined else {
      throw .accessDenied("this is not for sandboxed apps")
    }
  }

  /// Whether `sender` owns one of `names`.
  func owns(_ sender: UniqueName, anyOf names: [WellKnownName]) async -> Bool {
    for name in names where (try? await connection.owner(of: name)) == sender { return true }
    return false
  }
}
