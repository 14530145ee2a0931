import DeeplinkDesktop

/// A command as a person wrote it, with all that it may look at.
struct Invocation {
  /// Each is bytes: a link need not be UTF-8.
  let arguments: [Word]
  let context: Context
  private let given: [String: [Word]]

  init(arguments: [Word], options: [String: [Word]], context: Context) {
    self.arguments = arguments
    self.given = options
    self.context = context
  }

  func has(_ option: Option) -> Bool { given[option.name] != nil }

  /// The value of an option; of one that is given twice the last.
  func value(_ option: Option) -> Word? { given[option.name]?.last }

  /// The value of an option as a whole number.
  func number(_ option: Option, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
    guard let word = value(option) else { return nil }
    guard let number = Int(word.text), range.contains(number) else {
      throw .invalidNumber(option, word.text, range)
    }
    return number
  }

  var output: Output { context.output }
  var wantsJSON: Bool { has(.json) }
}

/// One argument of the program.
struct Word: Sendable, Hashable, ExpressibleByStringLiteral {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(stringLiteral text: String) { bytes = Array(text.utf8) }

  /// As text; what is not UTF-8 stands as U+FFFD.
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// What a command may know of where it runs.
struct Context {
  let environment: [String: String]
  let output: Output
  let errors: Output
  let directories: BaseDirectories

  init(environment: [String: String], output: Output, errors: Output) {
    self.environment = environment
    self.output = output
    self.errors = errors
    directories = BaseDirectories(environment: environment)
  }
}
