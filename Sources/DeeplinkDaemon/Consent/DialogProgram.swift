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
      child.onOutput = { if output.count < 4096 { output += $0 } }
      // GTK ends with 1, as for a no.
      var hasWindow = true
      child.onErrorOutput = { bytes in
        let words = String(decoding: bytes, as: UTF8.self)
        if words.contains("cannot open display") || words.contains("Failed to open display") {
          hasWindow = false
        }
      }
      child.onEnd = { end in
        guard hasWindow else { return asking.answer(.unavailable) }
        let word = String(decoding: output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        asking.answer(answer(kind, end, word, offersAlways: question.offersAlways))
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
      let labels = ["--title", title, "--yes-label", Answer.onceLabel]
      return question.offersAlways
        ? labels + [
          "--no-label", Answer.alwaysLabel, "--cancel-label", Answer.noLabel, "--yesnocancel", rich,
        ]
        : labels + ["--no-label", Answer.noLabel, "--yesno", rich]
    }
  }

  /// What the program's end says: 0 is the first button, and of the others only one that is told
  /// plainly; a window that was closed is a no.
  private static func answer(
    _ kind: Kind, _ end: ProcessEnd, _ word: String, offersAlways: Bool
  ) -> Answer {
    switch (kind, end) {
    case (_, .exited(0)): .once(token: nil)
    case (.zenity, .exited(1)):
      offersAlways && word == Answer.alwaysLabel ? .always(token: nil) : .no
    case (.kdialog, .exited(1)): offersAlways ? .always(token: nil) : .no
    case (.kdialog, .exited(2)): .no
    // It could not open its window, or broke.
    default: .unavailable
    }
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
