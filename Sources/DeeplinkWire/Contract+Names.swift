import DeeplinkBus
import DeeplinkContract

// The contract's constants as the bus's types. Each is valid by inspection; a test calls them all.

extension StaticString {
  package var text: String { description }
}

extension WellKnownName {
  public static let deeplinkd = WellKnownName(unchecked: Contract.busName.text)
}

extension ObjectPath {
  public static let deeplinkd = ObjectPath(unchecked: Contract.path.text)
}

extension InterfaceName {
  public static let dispatcher = InterfaceName(unchecked: Contract.Dispatcher.interface.text)
  public static let application = InterfaceName(unchecked: Contract.Application.interface.text)
  public static let handler = InterfaceName(unchecked: Contract.Handler.interface.text)
}

extension MemberName {
  init(_ constant: StaticString) { self.init(unchecked: constant.text) }
}
