import DeeplinkRouting
import DeeplinkActions
import DeeplinkLoop
import Glibc

/// A question as a dialog of a program that desktops have: zenity or kdialog.
///
/// Words are arguments, never a command line. Both programs read backslashes in their texts as escapes,
/// so each is doubled; kdialog reads markup where it sees some.
@LoopActor enum DialogProgram {
  private enum Kind: String {
    case zenity, kdialog
  }

  /// Starts the dialog; false where there is no program or no display for it.
  static func show(
    _ question: Question, _ environment: [String: String], _ asking: Asking
  ) -> Bool {
    let displays = ["DISPLAY", "WAYLAND_DISPLAY"]
    guard displays.contains(where: { environment[$0]?.isEmpty == false }) else { return false }
    let isKDE = environment["XDG_CURRENT_DESKTOP"]?.split(separator: ":").contains("KDE") == true
    for kind in isKDE ? [Kind.kdialog, .zenity] : [.zenity, .kdialog] {
      guard
        let path = ProgramLookup.path(
          of: kind.rawValue, in: "/", searching: environment["PATH"] ?? "")
      else { continue }
      if start(kind, path, question, environment, asking) { return true }
    }
    return false
  }

  private static func start(
    _ kind: Kind, _ path: String, _ question: Question, _ environment: [String: String],
    _ asking: Asking
  ) -> Bool {
    var description = ProcessDescription(
      arguments: [path] + arguments(kind, question), environment: environment, folder: "/")
    description.hasOwnSession = true
    do throws(SpawnError) {
      let child = try ChildProcess(description)
      var output: [UInt8] = []
      var errors: [UInt8] = []
      child.onOutput = { if output.count < 4096 { output += $0 } }
      // Toolkits have much to say; what ended the program comes last.
      child.onErrorOutput = { errors = (errors + $0).suffix(4096) }
      child.onEnd = { end in
        let word = String(decoding: output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let hasFailed = lostItsDisplay(String(decoding: errors, as: UTF8.self))
        asking.answer(
          end == .exited(1) && hasFailed
            ? .unavailable : answer(kind, end, word, offersAlways: question.offersAlways))
      }
      child.closeInput()
      asking.isShown { [weak child] in child?.signal(SIGTERM) }
      return true
    } catch {
      Log.warning("\(error), ignoring")
      return false
    }
  }

  private static func arguments(_ kind: Kind, _ question: Question) -> [String] {
    let title = question.title
    let text = "\(question.title)\n\n\(question.body)"
    switch kind {
    case .zenity:
      return [
        "--question", "--no-markup", "--default-cancel", "--width=480", "--title=\(title)",
        "--text=\(text.backslashesDoubled)", "--ok-label=\(Answer.onceLabel)",
        "--cancel-label=\(Answer.noLabel)",
      ] + (question.offersAlways ? ["--extra-button=\(Answer.alwaysLabel)"] : [])
    case .kdialog:
      let lines = text.markupEscaped.backslashesDoubled.split(
        separator: "\n", omittingEmptySubsequences: false)
      let rich = "<qt>\(lines.joined(separator: "<br/>"))</qt>"
      let labels = [
        "--title", title, "--yes-label", Answer.onceLabel, "--no-label", Answer.noLabel,
      ]
      // A third button would be status 1 or 2, and 1 is every failure's as well: "always" has to be said.
      return question.offersAlways
        ? ["--title", title, "--radiolist", rich]
          + [onceWord, Answer.onceLabel, "off", alwaysWord, Answer.alwaysLabel, "off"]
          + [noWord, Answer.noLabel, "on"]
        : labels + ["--yesno", rich]
    }
  }

  /// What kdialog prints for the line of its list that was chosen.
  private static let (onceWord, alwaysWord, noWord) = ("once", "always", "deny")

  /// What the program's end says: a yes is only what is told plainly; a window that was closed is a no.
  private static func answer(
    _ kind: Kind, _ end: ProcessEnd, _ word: String, offersAlways: Bool
  ) -> Answer {
    switch (kind, end) {
    case (.kdialog, .exited(0)) where offersAlways:
      word == alwaysWord ? .always(token: nil) : word == onceWord ? .once(token: nil) : .no
    case (_, .exited(0)): .once(token: nil)
    case (.zenity, .exited(1)):
      offersAlways && word == Answer.alwaysLabel ? .always(token: nil) : .no
    case (.kdialog, .exited(1)): .no
    // It broke.
    default: .unavailable
    }
  }

  /// Whether a program said that it could not open its display, or lost it.
  ///
  /// Its status is 1 then, as for a no. The words are those of GTK 3 and 4, libX11, Qt 5 and 6.
  private static func lostItsDisplay(_ errors: String) -> Bool {
    [
      "cannot open display", "Failed to open display", "Unable to init server",
      "could not connect to display", "on X server", "X11 connection broke",
      "Lost connection to Wayland", "dispatching to Wayland display", "Wayland connection",
    ].contains { errors.holds($0) }
  }
}

extension String {
  fileprivate var backslashesDoubled: String {
    reduce(into: "") { text, character in
      text.append(character)
      if character == "\\" { text.append(character) }
    }
  }
}
