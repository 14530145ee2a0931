/// Completion for bash, without the library bash-completion.
///
/// One function walks the words before the cursor down the table; what fits there is offered.
struct BashCompletion {
  let text: String

  init(_ root: Command) {
    let commands = root.walk()
    let name = root.name
    let valueOptions = commands.flatMap { path, command in
      command.allOptions.filter { $0.value != nil }.map { (path, $0) }
    }
    let steps = commands.dropFirst().map { Self.quoted($0.path) }.joined(separator: " | ")
    let skipped = valueOptions.map { Self.quoted("\($0.0) \($0.1.word)") }
    let values = valueOptions.map { path, option in
      "    \(Self.quoted("\(path) \(option.word)"))) \(Self.offer(option.completion)); return ;;"
    }
    let places = commands.map { path, command in
      """
          \(Self.quoted(path)))
            options=\(Self.quoted(command.allOptions.map(\.word).joined(separator: " ")))
            words=\(Self.quoted(command.visibleSubcommands.map(\.name).joined(separator: " ")))
            \(Self.offer(command.arguments.last?.completion ?? .none))
            ;;
      """
    }
    text = """
      # bash completion for \(name), made from its table of commands

      _\(name)_files() {
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      }

      _\(name)_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }

      _\(name)_plugins() { _\(name)_words "$(\(name) plugin list 2>/dev/null | cut -f1)"; }

      _\(name)_plugins_and_files() {
        local -a ids
        _\(name)_plugins
        ids=("${COMPREPLY[@]}")
        _\(name)_files
        COMPREPLY+=("${ids[@]}")
      }

      _\(name)() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        local path=\(name) options='' words='' word index only_arguments=''
        COMPREPLY=()
        # readline divides --option=value into three words.
        if [[ $current == = ]]; then
          current=
        elif [[ $previous == = ]]; then
          previous=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        for ((index = 1; index < COMP_CWORD; index++)); do
          word=${COMP_WORDS[index]}
          if [[ $word == -- ]]; then
            only_arguments=1
            break
          fi
          case "$path $word" in
            \(steps)) path+=" $word" ;;
          \(skipped.isEmpty ? "" : "  \(skipped.joined(separator: " | "))) ((index++)) ;;")
          esac
        done
        if [[ ! $only_arguments ]]; then
          case "$path $previous" in
      \(values.joined(separator: "\n"))
          esac
        fi
        case $path in
      \(places.joined(separator: "\n"))
        esac
        if [[ $current == -* && ! $only_arguments ]]; then
          _\(name)_words "$options"
        elif [[ $words ]]; then
          _\(name)_words "$words"
        fi
      }

      complete -F _\(name) \(name)

      """
  }

  private static func offer(_ completion: Command.Completion) -> String {
    switch completion {
    case .none: ":"
    case .files: "_deeplink_files"
    case .pluginIDs: "_deeplink_plugins"
    case .pluginIDsAndFiles: "_deeplink_plugins_and_files"
    case .words(let words): "_deeplink_words \(quoted(words.joined(separator: " ")))"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
  }
}
