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

  /// Runs `action` once, when the connection `name` has ended; throws where it has ended already.
  func whenGone(
    _ name: UniqueName, _ action: @escaping @LoopActor () -> Void
  ) async throws(BusError) {
    let rule = MatchRule(
      sender: .wellKnown("org.freedesktop.DBus"), interface: "org.freedesktop.DBus",
      member: "NameOwnerChanged", firstArgument: name.text)
    var subscription: Subscription?
    subscription = try await connection.subscribe(rule) { signal in
      guard signal.arguments.last?.string == "" else { return }
      subscription?.cancel()
      action()
    }
    // It may have ended before the bus knew the rule: then nothing more is heard of it.
    do throws(BusError) {
      _ = try await connection.credentials(of: name)
    } catch {
      subscription?.cancel()
      throw error
    }
  }
}
