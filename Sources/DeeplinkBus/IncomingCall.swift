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

  private let message: Message
  private unowned let connection: Connection
  private var isAnswered = false
  /// What the method's declaration says that it answers with.
  var replySignature: String?

  init(_ message: Message, on connection: Connection) {
    self.message = message
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
    answer { () throws(BusError) in try message.reply(values) }
  }

  public func fail(_ name: ErrorName, _ text: String) {
    answer { () throws(BusError) in try message.errorReply(name, text) }
  }

  /// Takes the arguments apart; false, and answered, when they are not of the declared types.
  func takeArguments(of method: Method) -> Bool {
    let signature = message.signature.text
    guard signature == method.inputSignature else {
      fail(
        .invalidArgs,
        "\(member) takes (\(method.inputSignature)), and was called with (\(signature))")
      return false
    }
    do throws(BusError) {
      arguments = try message.values()
      return true
    } catch {
      fail(.limitsExceeded, "the call carries more than \(MessageBody.maximumValues) values")
      return false
    }
  }

  private func answer(_ make: () throws(BusError) -> Message) {
    guard !isAnswered else { return }
    isAnswered = true
    guard message.expectsReply, connection.isOpen else { return }
    do throws(BusError) {
      try connection.send(try make())
    } catch {
      // A value that cannot be sent is our own mistake, and no reason to leave the caller waiting.
      guard let reply = try? message.errorReply(.failed, "the answer cannot be sent") else {
        return
      }
      try? connection.send(reply)
    }
  }
}
