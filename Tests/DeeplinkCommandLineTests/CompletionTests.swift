import DeeplinkTesting
import Foundation
import Testing

@testable import DeeplinkCommandLine

/// The completions, asked in the shells themselves.
@Suite(.timeLimit(.minutes(5))) struct CompletionTests {
  enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

  struct Line: Sendable, CustomTestStringConvertible {
    let text: String
    let offers: [String]
    var testDescription: String { text }
  }

  static let plugins = ["com.example.Photos", "com.example.demo"]

  static let lines = [
    Line(text: "deeplink ", offers: Command.deeplink.visibleSubcommands.map(\.name).sorted()),
    Line(text: "deeplink ex", offers: ["explain"]),
    Line(text: "deeplink --", offers: ["--help", "--version"]),
    Line(text: "deeplink explain --", offers: ["--help", "--json", "--manifest", "--stdin"]),
    Line(text: "deeplink explain x:y --st", offers: ["--stdin"]),
    Line(
      text: "deeplink plugin ",
      offers: ["add", "check", "disable", "enable", "list", "new", "remove", "show"]),
    Line(text: "deeplink plugin show ", offers: plugins),
    Line(text: "deeplink plugin check com.example.d", offers: ["com.example.demo"]),
    Line(text: "deeplink explain --manifest plug", offers: ["plugin.json"]),
    // A value is no command and no argument.
    Line(text: "deeplink explain --manifest plugin --j", offers: ["--json"]),
    Line(text: "deeplink open --timeout ", offers: []),
    Line(text: "deeplink history --outcome de", offers: ["declined", "delivered", "denied"]),
    Line(text: "deeplink open ", offers: []),
    Line(text: "deeplink gen", offers: []),
  ]

  @Test(arguments: Shell.allCases, lines)
  func `a shell offers what fits, and nothing else`(shell: Shell, line: Line) throws {
    guard Requirement.program(shell.rawValue) else {
      try Test.cancel("\(shell) is not installed")
    }
    let person = try Person()
    try person.write("{}", to: "plugin.json")
    let file = shell == .zsh ? "functions/_deeplink" : "completion"
    try person.write(try person.deeplink("generate", shell.rawValue).output, to: file)
    try person.write(try #require(Self.questions[shell]), to: "ask")
    let options = shell == .fish ? ["--no-config"] : shell == .zsh ? ["-f"] : []
    let done = try person.run(
      ["/bin/sh", "-c", #"cd "$HOME" && exec "$@""#, "sh", shell.rawValue] + options
        + ["ask", line.text])
    #expect(done.errors == "")
    let offers = done.lines.map { $0.prefix { $0 != "\t" } }.filter { !$0.isEmpty }
    #expect(offers.map(String.init).sorted() == line.offers, "\(done.output)")
  }

  @Test func `the scripts are what the shells' own checks want`() throws {
    let person = try Person()
    for shell in Shell.allCases where Requirement.program(shell.rawValue) {
      let script = try person.deeplink("generate", shell.rawValue).output
      try person.write(script, to: "completion")
      let done = try person.run([
        shell.rawValue, "-n", person.root.appending(path: "completion").path,
      ])
      #expect(done.status == 0 && done.errors == "", "\(shell): \(done.errors)")
    }
    if Requirement.program("shellcheck") {
      try person.write(
        "#!/bin/bash\n" + person.deeplink("generate", "bash").output, to: "completion")
      let done = try person.run([
        "shellcheck", person.root.appending(path: "completion").path,
      ])
      #expect(done.status == 0, "\(done.output)")
    }
  }

  /// Programs that print what their shell offers at the end of a line, one word a line.
  static let questions: [Shell: String] = [
    .bash: """
    source completion
    read -ra COMP_WORDS <<<"$1"
    if [[ $1 == *" " ]]; then COMP_WORDS+=(""); fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _deeplink deeplink
    printf '%s\\n' "${COMPREPLY[@]}"
    """,
    .fish: """
    source completion
    complete -C $argv[1]
    """,
    // A shell on a pseudo-terminal is given the line and the key for completion; what the functions
    // hand to compadd goes to a file, and the shell ends.
    .zsh: #"""
    zmodload zsh/zpty
    export HITS=$PWD/hits
    : >$HITS
    zpty shell zsh -f -i
    zpty -w shell '
    fpath=($PWD/functions $fpath)
    autoload -Uz compinit && compinit -u -D
    compadd() {
      local -a hits
      if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
      builtin compadd -A hits "$@"
      (( $#hits )) && print -rl -- $hits >>$HITS
      builtin compadd "$@"
    }
    finish() { exit }
    comppostfuncs=(finish)
    bindkey "^I" complete-word
    '
    zpty -w -n shell "$1"$'\t'
    while zpty -r shell line; do :; done
    sort -u $HITS
    """#,
  ]
}
