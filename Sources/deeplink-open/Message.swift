import CDeeplinkLinux

/// Text for the person, written as bytes: Embedded Swift prints no `String` without Unicode tables.
enum Message {
  static func print(_ parts: StaticString...) {
    for part in parts { unsafe write(1, part.utf8Start, part.utf8CodeUnitCount) }
  }

  static func error(_ sentence: StaticString) {
    put("deeplink-open: ")
    put(sentence)
    put("\n")
  }

  /// An error in the daemon's or the bus's words.
  static func error(_ sentence: StaticString, _ text: UnsafePointer<CChar>) {
    put("deeplink-open: ")
    put(sentence)
    unsafe putPrintable(text)
    put("\n")
  }

  static func error(_ sentence: StaticString, quoting text: UnsafePointer<CChar>) {
    put("deeplink-open: ")
    put(sentence)
    put("'")
    unsafe putPrintable(text)
    put("'\n")
  }

  static func hint(_ sentence: StaticString) {
    put("hint: ")
    put(sentence)
    put("\n")
  }

  private static func put(_ text: StaticString) {
    unsafe write(2, text.utf8Start, text.utf8CodeUnitCount)
  }

  /// Writes text with controls but line ends shown as `?`: it never steers a terminal.
  private static func putPrintable(_ text: UnsafePointer<CChar>) {
    var index = 0
    var start = 0
    while unsafe text[index] != 0 {
      let byte = unsafe UInt8(bitPattern: text[index])
      if byte < 0x20 && byte != UInt8(ascii: "\n") || byte == 0x7f {
        unsafe write(2, text + start, index - start)
        put("?")
        start = index + 1
      }
      index += 1
    }
    unsafe write(2, text + start, index - start)
  }
}
