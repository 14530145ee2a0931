import CDeeplinkLinux

/// The whole program that a desktop entry's `Exec=` starts: hands one link to the daemon.
///
/// It is started for every link, so it is Embedded Swift on libdbus with nothing else: it works on
/// the bytes of its arguments and never makes a `String` of them.
@main struct DeeplinkOpen {
  static func main() {
    switch Usage.read() {
    case .help:
      Message.print(Usage.text)
      exit(ExitCode.accepted)
    case .version:
      Message.print("deeplink-open ", Contract.version, "\n")
      exit(ExitCode.accepted)
    case .wrong(let sentence, let argument):
      if let argument = unsafe argument {
        unsafe Message.error(sentence, quoting: argument)
      } else {
        Message.error(sentence)
      }
      Message.hint("deeplink-open [--wait[=SECONDS]] [--] [URL]")
      exit(ExitCode.refused)
    case .activate:
      exit(Request.activate())
    case .open(let url, let wait):
      exit(unsafe Request.open(url, wait: wait))
    }
  }
}
