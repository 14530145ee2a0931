import DeeplinkLoop

/// What became of a request for a name (D-Bus specification, "RequestName").
public enum NameRequestOutcome: Hashable, Sendable {
  case owned
  case alreadyOwned
  /// Somebody else has it; this connection does not wait in the queue.
  case taken
}

/// Who is at the other end of a connection, as far as the bus vouches for it.
public struct Credentials: Hashable, Sendable {
  public var processID: UInt32?
  public var userID: UInt32?
}

extension Connection {
  /// Asks for `name` without queueing and without replacement: there is one owner or there is none.
  public func requestName(_ name: WellKnownName) async throws(BusError) -> NameRequestOutcome {
    // DBUS_NAME_FLAG_DO_NOT_QUEUE is 4.
    let reply = try await call(.toBus("RequestName", .string(name.text), .uint32(4)))
    switch reply.first?.uint32 {
    case 1: return .owned
    case 3: return .taken
    case 4: return .alreadyOwned
    default: throw .unexpectedReply(signature: reply.signature.text)
    }
  }

  /// The owner of `name`; nil when it has none.
  public func owner(of name: WellKnownName) async throws(BusError) -> UniqueName? {
    do throws(BusError) {
      let reply = try await call(.toBus("GetNameOwner", .string(name.text)))
      guard let owner = reply.first?.string else {
        throw .unexpectedReply(signature: reply.signature.text)
      }
      return UniqueName(unchecked: owner)
    } catch {
      if error.remoteName == .nameHasNoOwner { return nil }
      throw error
    }
  }

  /// Has the bus start the service of `name`; returns when the name is owned, at most `timeout`.
  public func startService(_ name: WellKnownName, timeout: Duration) async throws(BusError) {
    _ = try await call(
      .toBus("StartServiceByName", .string(name.text), .uint32(0)), timeout: timeout)
  }

  /// Runs `action` once, when the connection `name` has ended; at once where it has ended already, or
  /// where its end would not be heard of.
  public func whenGone(
    _ name: UniqueName, _ action: @escaping @LoopActor () -> Void
  ) async {
    var subscription: Subscription?
    let gone = FirstAnswer<Void> {
      subscription?.cancel()
      subscription = nil
      action()
    }
    do throws(BusError) {
      subscription = try await subscribe(.owner(of: name)) { signal in
        if signal.arguments.last?.string == "" { gone.give(()) }
      }
      // It may have ended before the bus knew the rule: then nothing more is heard of it.
      _ = try await credentials(of: name)
    } catch {
      subscription?.cancel()
      gone.give(())
    }
  }

  /// The identity of this bus, different for every one that was ever started.
  public func busID() async throws(BusError) -> String {
    let reply = try await call(.toBus("GetId"))
    guard let id = reply.first?.string else {
      throw .unexpectedReply(signature: reply.signature.text)
    }
    return id
  }

  public func credentials(of name: UniqueName) async throws(BusError) -> Credentials {
    let reply = try await call(.toBus("GetConnectionCredentials", .string(name.text)))
    guard let facts = reply.first?.options else {
      throw .unexpectedReply(signature: reply.signature.text)
    }
    return Credentials(
      processID: facts["ProcessID"]?.uint32, userID: facts["UnixUserID"]?.uint32)
  }
}
