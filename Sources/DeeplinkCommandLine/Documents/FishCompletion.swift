/// Completion for fish: each line says at which command it counts.
struct FishCompletion {
  let text: String

  init(_ root: Command) {
    let commands = root.walk()
    let name = root.name
    let steps = commands.dropFirst().map { Self.quoted($0.path) }.joined(separator: " ")
    let skipped = commands.flatMap { path, command in
      command.allOptions.filter { $0.value != nil }.map { Self.quoted("\(path) \($0.word)") }
    }
    var lines: [String] = []
    for (path, command) in commands {
      let at = "complete -c \(name) -n \(Self.quoted("__\(name)_at '\(path)'"))"
      for option in command.allOptions {
        let value =
          option.value == nil
          ? "" : " -r\(Self.offer(option.completion, program: name))"
        lines.append("\(at) -l \(option.name)\(value) -d \(Self.quoted(option.help))")
      }
      for subcommand in command.visibleSubcommands {
        lines.append("\(at) -a \(subcommand.name) -d \(Self.quoted(subcommand.summary))")
      }
      if let argument = command.arguments.last, argument.completion != .none {
        lines.append("\(at)\(Self.offer(argument.completion, program: name))")
      }
    }
    text = """
      # fish completion for \(name), made from its table of commands

      function __\(name)_at -d 'whether the words before the cursor lead to this command'
        set -l path \(name)
        set -l skip
        set -l words (commandline -opc)
        for word in $words[2..]
          if set -q skip[1]
            set -e skip[1]
            continue
          end
          switch "$path $word"
            case \(steps)
              set path "$path $word"
            case \(skipped.isEmpty ? "''" : skipped.joined(separator: " "))
              set skip 1
          end
        end
        test "$path" = "$argv[1]"
      end

      complete -c \(name) -f
      \(lines.joined(separator: "\n"))

      """
  }

  private static func offer(_ completion: Command.Completion, program: String) -> String {
    switch completion {
    case .none: " -f"
    case .files: " -F"
    case .pluginIDs: " -f -a \(plugins(program))"
    case .pluginIDsAndFiles: " -F -a \(plugins(program))"
    case .words(let words): " -f -a \(quoted(words.joined(separator: " ")))"
    }
  }

  private static func plugins(_ program: String) -> String {
    quoted("(\(program) plugin list 2>/dev/null | cut -f1)")
  }

  private static func quoted(_ text: String) -> String {
    "'\(String(text.flatMap { "'\\".contains($0) ? ["\\", $0] : [$0] }))'"
  }
}
