import DeeplinkContract
import DeeplinkDesktop
import DeeplinkWire
import Glibc

/// `deeplinkd` as a program: it takes no arguments but `--help` and `--version`.
public enum Program {
  public static func main() -> Never {
    switch CommandLine.arguments.dropFirst().first {
    case nil: break
    case "--version":
      print("deeplinkd \(Contract.version)")
      exit(0)
    case "--help":
      print(
        """
        usage: deeplinkd

        The deep-link daemon of one session bus. The bus or systemd starts it; it takes
        no arguments.

          --help     print this
          --version  print the version
        """)
      exit(0)
    case let other?:
      Log.error("unknown argument '\(other)'\nhint: deeplinkd takes none but --help and --version")
      exit(1)
    }
    keepStandardDescriptors()
    exit(Daemon.run(environment: ProcessEnvironment.variables()))
  }

  /// Whoever started the daemon may have closed one of the first three descriptors; a socket or a
  /// pipe in its place would be written to by mistake.
  private static func keepStandardDescriptors() {
    var descriptor: Int32
    repeat {
      descriptor = unsafe open("/dev/null", O_RDWR)
    } while descriptor >= 0 && descriptor <= 2
    close(descriptor)
  }
}
