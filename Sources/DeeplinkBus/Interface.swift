import DeeplinkLoop

/// An interface as it is declared and served: introspection is made from the same values that calls
/// are checked against.
public struct Interface: Sendable {
  public let name: InterfaceName
  public let methods: [Method]
  public let signals: [SignalDeclaration]
  public let properties: [Property]

  public init(
    _ name: InterfaceName, methods: [Method] = [], signals: [SignalDeclaration] = [],
    properties: [Property] = []
  ) {
    self.name = name
    self.methods = methods
    self.signals = signals
    self.properties = properties
  }
}

public struct Argument: Hashable, Sendable {
  public let name: String
  public let signature: Signature
  public init(_ name: String, _ signature: Signature) {
    self.name = name
    self.signature = signature
  }
}

public struct Method: Sendable {
  public let name: MemberName
  public let inputs: [Argument]
  public let outputs: [Argument]
  /// Answers the call, now or later.
  ///
  /// The arguments have the declared types.
  let handler: @LoopActor (IncomingCall) -> Void

  public init(
    _ name: MemberName, in inputs: [Argument] = [], out outputs: [Argument] = [],
    _ handler: @escaping @LoopActor (IncomingCall) -> Void
  ) {
    self.name = name
    self.inputs = inputs
    self.outputs = outputs
    self.handler = handler
  }

  var inputSignature: String { inputs.map(\.signature.text).joined() }
  var outputSignature: String { outputs.map(\.signature.text).joined() }
}

public struct SignalDeclaration: Hashable, Sendable {
  public let name: MemberName
  public let arguments: [Argument]
  public init(_ name: MemberName, _ arguments: [Argument]) {
    self.name = name
    self.arguments = arguments
  }
}

/// A property that can be read; none of ours can be written.
public struct Property: Sendable {
  public let name: MemberName
  public let signature: Signature
  /// What readers may keep (D-Bus specification, annotation `EmitsChangedSignal`).
  public enum Change: String, Sendable {
    case signalled = "true", silent = "false", never = "const"
  }
  public let change: Change
  let value: @LoopActor () -> Value

  public init(
    _ name: MemberName, _ signature: Signature, change: Change = .silent,
    _ value: @escaping @LoopActor () -> Value
  ) {
    self.name = name
    self.signature = signature
    self.change = change
    self.value = value
  }
}
