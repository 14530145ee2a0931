import DeeplinkBus
import DeeplinkContract
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// Work on the session bus, from a command that is a plain function.
enum Session {
  /// Connects, runs `body` on the event loop, and gives its answer.
  ///
  /// - Parameter waiting: What a person at a terminal reads once it takes longer than a second; nil
  ///   for work that has no end.
  static func perform<Answer: Sendable>(
    _ waiting: String?, _ body: @escaping @LoopActor (Connection) async throws(BusError) -> Answer
  ) throws(CommandError) -> Answer {
    let result = LoopWork.perform(waiting) { () -> Result<Answer, BusError> in
      do throws(BusError) {
        let connection = try Connection.session()
        let answer = try await body(connection)
        connection.close()
        return .success(answer)
      } catch {
        return .failure(error)
      }
    }
    do throws(BusError) { return try result.get() } catch { throw CommandError(error) }
  }
}

extension CommandError {
  init(_ error: BusError) {
    if let refusal = DispatcherError(error) {
      self = .refused(Refusal(refusal))
      return
    }
    switch error {
    case .cannotConnect(_, _, let message): self = .noSessionBus(message)
    case .disconnected: self = .lost
    case .noReply(let limit):
      self = .unreachable("no answer in \(limit.components.seconds) s", isInstalled: true)
    case .remote(.noReply, _): self = .lost
    case .remote(let name, let message):
      self = .unreachable(message, isInstalled: name != .serviceUnknown)
    case .unexpectedReply(let signature):
      self = .unreachable("it answered with \(signature)", isInstalled: true)
    case .invalidName(let kind, let text):
      self = .unreachable("'\(text)' is no \(kind)", isInstalled: true)
    case .invalidValue(let text): self = .unreachable(text, isInstalled: true)
    case .tooLarge: self = .unreachable("the message is too large", isInstalled: true)
    case .outOfMemory: self = .unreachable("there is no memory left", isInstalled: true)
    }
  }
}

extension Refusal {
  /// A refusal as it came over the bus: the message may have its hint on a line of its own.
  fileprivate init(_ error: DispatcherError) {
    let lines = error.message.split(separator: "\n", maxSplits: 1).map(String.init)
    let hint = lines.dropFirst().first
    self.init(
      Code.allCases.first { $0.errorName == error.code } ?? .malformed, lines.first ?? error.code,
      hint: hint.map { $0.hasPrefix("hint: ") ? String($0.dropFirst(6)) : $0 })
  }
}
