import DeeplinkLoop

/// A method call that came over the bus.
///
/// It is answered once; what comes after is thrown away.
@LoopActor public final class IncomingCall {
  public let path: ObjectPath
  /// nil where the caller named none: any interface of the object that has the member.
  public let interface: InterfaceName?
  public let member: MemberName
  /// The caller's connection; the bus itself has none.
  public let sender: UniqueName?
  public private(set) var arguments: [Value] = []

  /// Let go of before the call is answered: a message that is held counts against the connection,
  /// which reads nothing more once there are too many.
  private var message: Message?
  private let serial: UInt32
  private let expectsReply: Bool
  private weak var connection: Connection?
  private var isAnswered = false
  /// What the method's declaration says that it answers with.
  var replySignature: String?

  init(_ message: Message, on connection: Connection) {
    self.message = message
    serial = message.serial
    expectsReply = message.expectsReply
    self.connection = connection
    // libdbus does not pass on a call without path or member.
    path = message.path ?? "/"
    interface = message.interface
    member = message.member ?? "None"
    if case .unique(let name)? = message.sender { sender = name } else { sender = nil }
  }

  public func reply(_ values: Value...) { reply(values) }

  public func reply(_ values: [Value]) {
    if let replySignature, values.signature.text != replySignature {
      return fail(.failed, "\(member) has no answer of its type: \(values.signature)")
    }
    answer { () throws(BusError) in try .reply(to: serial, sender, values) }
  }

  public func fail(_ name: ErrorName, _ text: String) {
    answer { () throws(BusError) in try .errorReply(to: serial, sender, name, text) }
  }

  /// Takes the arguments apart; false, and answered, when they are not of the declared types.
  func takeArguments(of method: Method) -> Bool {
    let signature = message?.signature.text ?? ""
    guard signature == method.inputSignature else {
      fail(
        .invalidArgs,
        "\(member) takes (\(method.inputSignature)), and was called with (\(signature))")
      return false
    }
    do throws(BusError) {
      arguments = try message?.values() ?? []
      message = nil
      return true
    } catch {
      fail(.limitsExceeded, "the call carries more than \(MessageBody.maximumValues) values")
      return false
    }
  }

  /// The method has what it wanted of them.
  func dropArguments() { arguments = [] }

  private func answer(_ make: () throws(BusError) -> Message) {
    guard !isAnswered else { return }
    isAnswered = true
    message = nil
    guard expectsReply, let connection, connection.isOpen else { return }
    do throws(BusError) {
      try connection.send(try make())
    } catch {
      // A value that cannot be sent is our own mistake, and no reason to leave the caller waiting.
      let words = "the answer cannot be sent"
      guard let reply = try? Message.errorReply(to: serial, sender, .failed, words) else { return }
      try? connection.send(reply)
    }
  }
}
