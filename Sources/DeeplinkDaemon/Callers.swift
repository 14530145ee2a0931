import DeeplinkActions
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

  /// Whether `sender` is a process that was launched for the app `id`: it is in the session that it was
  /// started in, or in a unit of the app's.
  func isOfApp(_ sender: UniqueName, _ id: String, by launcher: ProgramLauncher) async -> Bool {
    if let process = try? await connection.credentials(of: sender).processID,
      launcher.hasStarted(process, for: id)
    {
      return true
    }
    let source = await sources.source(of: sender)
    return source.kind == .unit && source.name == id
  }
}
