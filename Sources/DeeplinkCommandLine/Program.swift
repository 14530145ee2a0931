import CDeeplinkLinux
import DeeplinkContract
import DeeplinkDesktop
import Glibc

/// `deeplink` as a program.
public enum Program {
  public static func main() -> Never {
    keepStandardDescriptors()
    let words = (1..<max(1, deeplink_argument_count())).compactMap { index -> Word? in
      guard let text = unsafe deeplink_argument(index) else { return nil }
      return unsafe Word(Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
    }
    exit(run(words, environment: ProcessEnvironment.variables()))
  }

  /// Puts something in the place of standard descriptors that whoever started the program closed.
  ///
  /// Else the bus's socket would take the place and be written to. It is open the wrong way, so that a
  /// use of it is an error as it would have been.
  private static func keepStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  private static func run(_ words: [Word], environment: [String: String]) -> Int32 {
    let context = Context(
      environment: environment,
      output: Output(descriptor: STDOUT_FILENO, environment: environment),
      errors: Output(descriptor: STDERR_FILENO, environment: environment))
    var status: Int32
    do throws(CommandError) {
      status = try run(words, context)
    } catch {
      report(error, context.errors)
      status = error.status
    }
    context.output.flush()
    context.errors.flush()
    return status
  }

  private static func run(_ words: [Word], _ context: Context) throws(CommandError) -> Int32 {
    switch try Parser.parse(words, root: .deeplink) {
    case .help(let path):
      context.output.write(Help(path: path).text)
      return ExitCode.accepted
    case .version:
      context.output.line("deeplink \(Contract.version)")
      return ExitCode.accepted
    case .run(let command, let arguments, let options):
      guard let run = command.run else { return ExitCode.accepted }
      return try run(Invocation(arguments: arguments, options: options, context: context))
    }
  }

  private static func report(_ error: CommandError, _ errors: Output) {
    errors.line("\(errors.styled("deeplink:", .bad)) \(error.sentence.visibleLines)")
    if let hint = error.hint {
      errors.line("\(errors.styled("hint:", .warning)) \(hint.visibleLines)")
    }
  }
}
