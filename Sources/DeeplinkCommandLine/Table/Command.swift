/// One command as the table has it: parser, help, manual and completions are made from this.
///
/// A command either runs or has subcommands. What is not in the table does not exist.
struct Command: Sendable {
  let name: String
  /// One line in lower case, without a full stop.
  let summary: String
  /// Paragraphs for help and manual.
  var details: [String] = []
  var arguments: [Argument] = []
  var options: [Option] = []
  var examples: [Example] = []
  var exitStatuses: [ExitStatus] = []
  var subcommands: [Command] = []
  /// Left out of help, manual and completions.
  var isHidden = false
  var run: (@Sendable (Invocation) throws(CommandError) -> Int32)?

  /// Those that are written without a minus: `URL…`.
  struct Argument: Sendable {
    let name: String
    let help: String
    var completion = Completion.none
    var isRequired = true
    var isRepeated = false
  }

  struct Example: Sendable {
    let command: String
    let meaning: String
  }

  struct ExitStatus: Sendable {
    let status: Int32
    let meaning: String
  }

  /// What a shell offers in the place of a word.
  enum Completion: Sendable, Hashable {
    case none, files, pluginIDs, pluginIDsAndFiles
    case words([String])
  }

  /// Those of the command itself, then those that every command has.
  var allOptions: [Option] { options + [.help] }

  var visibleSubcommands: [Command] { subcommands.filter { !$0.isHidden } }

  func subcommand(_ name: String) -> Command? { subcommands.first { $0.name == name } }
}

/// `--NAME`, or `--NAME VALUE`, which may also be written `--NAME=VALUE`.
struct Option: Sendable, Hashable {
  let name: String
  let help: String
  /// What stands for the value in help; nil: the option takes none.
  let value: String?
  let completion: Command.Completion

  init(
    _ name: String, value: String? = nil, completion: Command.Completion = .none, _ help: String
  ) {
    self.name = name
    self.help = help
    self.value = value
    self.completion = completion
  }

  var word: String { "--\(name)" }

  /// `--manifest FILE`.
  var usage: String { value.map { "\(word) \($0)" } ?? word }

  static let help = Option("help", "print this")
  static let version = Option("version", "print the version")
  static let json = Option("json", "print JSON, one object a line")
}

extension Command {
  /// `[--json] [--stdin] [--manifest FILE] [--] [URL…]`.
  var usageWords: [String] {
    var words = options.map { "[\($0.usage)]" }
    if !visibleSubcommands.isEmpty { words.append("COMMAND") }
    for argument in arguments {
      let name = argument.isRepeated ? "\(argument.name)…" : argument.name
      words.append(argument.isRequired ? name : "[\(name)]")
    }
    return words
  }
}
