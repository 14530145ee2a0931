/// Reads the words behind the program's name by the table of commands.
///
/// Options may stand before, between and behind arguments; `--` ends them, so that a link may begin
/// with a minus. `--help`, or `-h`, wins over everything else that is wrong.
struct Parser {
  /// What the words ask for.
  enum Request {
    case help(path: [Command])
    case version
    case run(Command, arguments: [Word], options: [String: [Word]])
  }

  private var path: [Command]
  private var arguments: [Word] = []
  private var options: [String: [Word]] = [:]

  private var command: Command { path[path.count - 1] }
  private var words: String { path.map(\.name).joined(separator: " ") }

  static func parse(_ words: [Word], root: Command) throws(CommandError) -> Request {
    var parser = Parser(path: [root])
    do throws(CommandError) {
      try parser.read(words)
      return try parser.request()
    } catch {
      let options = words.prefix { $0 != "--" }
      if options.contains("--help") || options.contains("-h") { return .help(path: parser.path) }
      throw error
    }
  }

  private init(path: [Command]) { self.path = path }

  private mutating func read(_ words: [Word]) throws(CommandError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        for word in rest { try take(word) }
        return
      }
      // A minus alone is an argument everywhere.
      if word.bytes.first == UInt8(ascii: "-"), word.bytes.count > 1 {
        try takeOption(word, &rest)
      } else {
        try take(word)
      }
    }
  }

  /// A subcommand where there are some, else an argument.
  private mutating func take(_ word: Word) throws(CommandError) {
    if !command.subcommands.isEmpty {
      guard let next = command.subcommand(word.text) else {
        throw .unknownCommand(
          word.text, of: words, known: command.visibleSubcommands.map(\.name),
          deeper: command.subcommands.first { $0.subcommand(word.text) != nil }?.name)
      }
      return path.append(next)
    }
    let isFull =
      !(command.arguments.last?.isRepeated ?? false) && arguments.count == command.arguments.count
    guard !isFull else { throw .tooManyArguments(word.text, for: words) }
    arguments.append(word)
  }

  private mutating func takeOption(
    _ word: Word, _ rest: inout ArraySlice<Word>
  ) throws(CommandError) {
    let halves = word.bytes.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let name = Word(Array(halves[0])).text
    guard let option = command.allOptions.first(where: { $0.word == name }) else {
      throw .unknownOption(name, of: words, known: command.allOptions.map(\.word))
    }
    var value: Word?
    if halves.count == 2 {
      guard option.value != nil else { throw .unexpectedValue(option) }
      value = Word(Array(halves[1]))
    } else if option.value != nil {
      guard let next = rest.popFirst(), next != "--" else { throw .missingValue(option) }
      value = next
    }
    if let value, case .words(let known) = option.completion, !known.contains(value.text) {
      throw .unknownValue(option, value.text, known: known)
    }
    options[option.name, default: []].append(value ?? "")
  }

  private func request() throws(CommandError) -> Request {
    if options[Option.help.name] != nil { return .help(path: path) }
    if options[Option.version.name] != nil { return .version }
    guard command.run != nil else {
      throw .missingCommand(of: words, known: command.visibleSubcommands.map(\.name))
    }
    if arguments.count < command.arguments.count {
      let missing = command.arguments[arguments.count]
      if missing.isRequired { throw .missingArgument(missing.name, of: words) }
    }
    return .run(command, arguments: arguments, options: options)
  }
}
