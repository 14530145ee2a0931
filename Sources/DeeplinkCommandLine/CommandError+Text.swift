import DeeplinkBus
import DeeplinkContract
import DeeplinkDesktop
import DeeplinkRouting
import DeeplinkWire

extension CommandError {
  /// A sentence in lower case: what and which.
  var sentence: String {
    switch self {
    case .unknownCommand(let word, let command, _, _): "'\(command)' has no command '\(word)'"
    case .missingCommand(let command, _): "'\(command)' needs a command"
    case .unknownOption(let word, let command, _): "'\(command)' has no option '\(word)'"
    case .missingValue(let option): "'\(option.word)' needs a value"
    case .unexpectedValue(let option): "'\(option.word)' takes no value"
    case .invalidNumber(let option, let text, let range):
      "'\(option.word)' takes a whole number from \(range.lowerBound) to \(range.upperBound), "
        + "not '\(text)'"
    case .unknownValue(let option, let text, let known):
      "'\(option.word)' takes one of \(known.joined(separator: ", ")), not '\(text)'"
    case .missingArgument(let name, let command): "'\(command)' needs \(name)"
    case .tooManyArguments(let word, let command): "'\(command)' has no place for '\(word)'"
    case .contradiction(let sentence): sentence
    case .unreadable(let path, let reason): "'\(path)' cannot be read: \(reason)"
    case .unwritable(let reason): "the output cannot be written: \(reason)"
    case .invalidManifest(let diagnostics):
      diagnostics.map(\.description).joined(separator: "\n")
    case .unknownPlugin(let word, _): "there is no plugin '\(word)'"
    case .unknownGrant(let word, _): "nothing was allowed for good to '\(word)'"
    case .grants(let words): "the grants cannot be used: \(words)"
    case .noEntry(let word): "the history has no entry '\(word)'"
    case .notReplayable(let number, let reason, _):
      "entry \(number) cannot be sent again: \(reason)"
    case .unknownScheme(let word, _): "no plugin has the scheme '\(word)'"
    case .notChanged(let failure): "'\(failure.path)' cannot be changed: \(failure.reason)"
    case .registrationIsBusy: "another deeplink is changing the registration, and does not end"
    case .damagedRecord(let damage):
      "the record of what registration changed cannot be read: \(damage.path): \(damage.reason)"
    case .noOpener(let path): "'\(path)' is not there"
    case .unusableOpener(let path): "'\(path)' cannot stand in a desktop entry"
    case .packaged(let id, let folder): "'\(id)' is no plugin of yours: it lies in '\(folder)'"
    case .notAgreed(let id): "'\(id)' was not added"
    case .agreementNeeded(let id): "'\(id)' is added only when somebody agrees"
    case .noSessionBus(let words): "there is no session bus: \(words)"
    case .unreachable(let words, _): "the deep-link daemon cannot be reached: \(words)"
    case .lost: "the deep-link daemon went away before it answered"
    case .refused(let refusal): refusal.message
    case .outcome(let reply):
      (["the link was accepted, and came to: \(reply.outcome?.rawValue ?? "pending")"]
        + ["reason", "message"].compactMap { reply.result[$0]?.string }).joined(separator: ", ")
    }
  }

  /// What can be done about it.
  var hint: String? {
    switch self {
    case .unknownCommand(let word, let command, let known, let deeper):
      deeper.map { "did you mean `\(command) \($0) \(word)`?" }
        ?? Self.suggestion(word, known) ?? "`\(command) --help` lists the commands"
    case .missingCommand(let command, let known):
      "one of \(known.joined(separator: ", ")); `\(command) --help` says more"
    case .unknownOption(let word, let command, let known):
      Self.suggestion(word, known)
        ?? "`\(command) --help` lists the options; what begins with a minus can stand behind '--'"
    case .missingValue(let option), .unexpectedValue(let option): "it is written \(option.usage)"
    case .missingArgument(_, let command), .tooManyArguments(_, let command):
      "`\(command) --help` shows how it is used"
    case .unknownPlugin(let word, let known):
      Self.suggestion(word, known) ?? "`deeplink plugin list` shows those there are"
    case .unknownGrant(let word, let known):
      Self.suggestion(word, known) ?? "`deeplink grants list` shows what was"
    case .unknownValue(_, let word, let known): Self.suggestion(word, known)
    case .unreadable(let path, _) where path.hasSuffix("/\(PluginFolder.manifestName)"):
      "a plugin is a folder with a \(PluginFolder.manifestName); `deeplink plugin new` writes one"
    case .noEntry: "`deeplink history` shows the numbers"
    case .notReplayable(_, _, let hint): hint
    case .noSessionBus:
      "a desktop session has one; elsewhere `dbus-run-session` starts one for a command"
    case .unreachable(_, let isInstalled):
      isInstalled
        ? "its own messages say why: journalctl --user -t deeplinkd"
        : "is deeplinkd installed, with its D-Bus service?"
    case .lost: "its own messages say why: journalctl --user -t deeplinkd"
    case .refused(let refusal): refusal.hint
    case .unknownScheme(let word, let known):
      Self.suggestion(word, known) ?? "`deeplink schemes` shows the schemes in use"
    case .noOpener: "deeplink and deeplink-open are installed side by side"
    case .unusableOpener:
      "it takes a path of letters, digits and / . _ + - alone: not every launcher knows quotes"
    case .packaged(let id, _): "`deeplink plugin disable \(id)` switches it off"
    case .agreementNeeded: "'--yes' agrees to what was shown"
    case .registrationIsBusy: "`pgrep -a deeplink` shows it"
    case .damagedRecord: "without the file nothing is undone; moved away, all is as if never done"
    case .notChanged, .notAgreed: nil
    case .invalidNumber, .contradiction, .unreadable, .unwritable, .invalidManifest,
      .grants,
      .outcome:
      nil
    }
  }

  /// Section "exit status" of deeplink(1).
  var status: Int32 {
    switch self {
    case .noSessionBus, .unreachable, .lost: ExitCode.unreachable
    case .unwritable, .outcome: ExitCode.failed
    default: ExitCode.refused
    }
  }

  private static func suggestion(_ word: String, _ known: [String]) -> String? {
    Suggestion.nearest(to: word, among: known).map { "did you mean '\($0)'?" }
  }
}
