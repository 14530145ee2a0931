/// Completion for zsh: a function for each command, with `_arguments`.
struct ZshCompletion {
  let text: String

  init(_ root: Command) {
    let functions = root.walk().map { path, command in
      Self.function(path, command)
    }
    text = """
      #compdef \(root.name)
      # made from the table of commands

      \(functions.joined(separator: "\n\n"))

      _\(root.name)_plugins() {
        local -a ids
        ids=(${(f)"$(\(root.name) plugin list 2>/dev/null | cut -f1)"})
        compadd -a ids
      }

      if [[ $funcstack[1] == _\(root.name) ]]; then
        _\(root.name) "$@"
      else
        compdef _\(root.name) \(root.name)
      fi

      """
  }

  private static func function(_ path: String, _ command: Command) -> String {
    let function = "_\(path.split(separator: " ").joined(separator: "_"))"
    let options = command.allOptions.map(Self.option)
    if command.visibleSubcommands.isEmpty {
      let arguments = command.arguments.map { argument in
        "'\(argument.isRepeated ? "*" : ""):\(argument.name):\(action(argument.completion))'"
      }
      return lines(
        "\(function)() {", "  _arguments -S \(joined(options + arguments))", "}")
    }
    let commands = command.visibleSubcommands.map { "\(quoted("\($0.name):\($0.summary)"))" }
    let cases = command.visibleSubcommands.map { "        \($0.name)) \(function)_\($0.name) ;;" }
    return lines(
      "\(function)() {",
      "  local curcontext=$curcontext state state_descr line",
      "  local -A opt_args",
      "  local -a commands=(",
      commands.map { "    \($0)" }.joined(separator: "\n"),
      "  )",
      "  _arguments -C \(joined(options + ["'1:command:->command'", "'*::argument:->rest'"]))",
      "  case $state in",
      "    command) _describe -t commands command commands ;;",
      "    rest)",
      "      case $line[1] in",
      cases.joined(separator: "\n"),
      "      esac",
      "      ;;",
      "  esac",
      "}")
  }

  private static func option(_ option: Option) -> String {
    let help = escaped(option.help)
    guard let value = option.value else { return quoted("\(option.word)[\(help)]") }
    return quoted("\(option.word)=[\(help)]:\(value):\(action(option.completion))")
  }

  private static func action(_ completion: Command.Completion) -> String {
    switch completion {
    case .none: ""
    case .files: "_files"
    case .pluginIDs: "_deeplink_plugins"
    case .pluginIDsAndFiles: "{_deeplink_plugins; _files}"
    case .words(let words): "(\(words.joined(separator: " ")))"
    }
  }

  private static func lines(_ lines: String...) -> String { lines.joined(separator: "\n") }

  private static func joined(_ words: [String]) -> String {
    words.map { "\\\n    \($0)" }.joined(separator: " ")
  }

  /// Within the brackets of `_arguments`.
  private static func escaped(_ text: String) -> String {
    String(text.flatMap { "[]:\\".contains($0) ? ["\\", $0] : [$0] })
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
  }
}
