import DeeplinkTesting
import Foundation

/// A socket on the loopback interface that nobody is expected to connect to.
final class Listener {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isListening else { throw TestingError("no socket: \(String(cString: strerror(errno)))") }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }

  /// Whether somebody has connected since it was last asked.
  var wasReached: Bool {
    let connection = accept(descriptor, nil, nil)
    if connection >= 0 { close(connection) }
    return connection >= 0
  }
}
