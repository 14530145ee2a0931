import CDeeplinkLinux
import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire
import Glibc

/// The daemon from its start to its end: one process for each session bus.
@LoopActor public final class Daemon {
  private let environment: [String: String]
  private let directories: BaseDirectories
  private var service: Service?
  private var isLeaving = false
  private var exitStatus: Int32?

  /// What exists while the daemon is on the bus.
  private struct Service {
    let connection: Connection
    let book: DeliveryBook
    let courier: Courier
    let intake: Intake
    let recorder: HistoryRecorder
    let ledger: Ledger
  }

  private init(environment: [String: String]) {
    self.environment = environment
    directories = BaseDirectories(environment: environment)
  }

  /// Runs on the calling thread until the daemon ends; gives the exit status.
  public nonisolated static func run(environment: [String: String]) -> Int32 {
    // One heap: threads that live for one write to a disk would each leave one behind.
    deeplink_use_one_heap()
    let ends = endSignals()
    var daemon: Daemon?
    return EventLoop.shared.run {
      if daemon == nil {
        daemon = Daemon(environment: environment)
        daemon?.start(ends)
      }
      return daemon?.exitStatus
    }
  }

  /// SIGTERM and SIGINT are read from a descriptor, blocked before any other thread exists.
  ///
  /// A SIGCHLD that our parent ignores would be ignored here too, and the ends of children be lost.
  private nonisolated static func endSignals() -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGCHLD, SIG_DFL)
    return unsafe deeplink_signal_fd([SIGTERM, SIGINT], 2)
  }

  // MARK: Start

  private func start(_ signals: Int32) {
    DescriptorLimit.raise()
    if signals >= 0 {
      _ = EventLoop.shared.watch(signals, .readable) { [unowned self] _ in
        var buffer = [UInt8](repeating: 0, count: 128)
        if unsafe read(signals, &buffer, buffer.count) > 0 { finish() }
      }
    }
    Task { await appear() }
  }

  /// Exports everything, then asks for the name: the bus holds the first call until then.
  private func appear() async {
    do throws(BusError) {
      let connection = try Connection.session()
      connection.onClose { [weak self] in self?.busIsGone() }
      let configuration = Configuration(directories: directories)
      let ledger = Ledger(path: ledgerPath(bus: try await connection.busID()))
      let book = DeliveryBook(connection: connection, ledger: ledger)
      let courier = Courier(
        connection: connection, book: book, ledger: ledger, configuration: configuration,
        directories: directories, environment: environment)
      let recorder = HistoryRecorder(directories: directories, configuration: configuration)
      let notifier = Notifier(connection: connection)
      let intake = Intake(
        book: book, ledger: ledger, courier: courier, configuration: configuration,
        callers: Callers(
          connection: connection, sources: SourceFinder(connection: connection)),
        recorder: recorder, notifier: notifier)
      configuration.onChange = { [weak courier] in courier?.dropIdleTargets() }
      let callbacks = CallbackSender(
        courier: courier, gate: courier.gate, configuration: configuration)
      book.onEnd = { delivery in
        callbacks.answer(delivery)
        recorder.record(delivery)
        notifier.tell(delivery)
      }
      connection.export([.dispatcher(intake), .application(intake)], at: .deeplinkd)
      service = Service(
        connection: connection, book: book, courier: courier, intake: intake, recorder: recorder,
        ledger: ledger)
      switch try await connection.requestName(.deeplinkd) {
      case .owned, .alreadyOwned:
        ledger.open()
        Replay(
          book: book, courier: courier, settings: configuration.settings,
          table: configuration.table
        ).run(ledger.entries())
        intake.openGate()
      case .taken:
        Log.info("another deeplinkd serves this session already")
        exitStatus = 0
      }
    } catch {
      Log.error("cannot serve on the session bus: \(error)")
      exitStatus = 3
    }
  }

  /// One for each bus, so that no two daemons share one; nil without a runtime directory.
  private func ledgerPath(bus: String) -> String? {
    guard let runtime = directories.runtime else { return nil }
    PrivateFolder.make("\(runtime)/deeplinkd")
    return "\(runtime)/deeplinkd/\(bus).ledger"
  }

  // MARK: End

  /// How long what is under way has to come to its end.
  private static let lastWords = Duration.seconds(10)

  /// Finishes what is under way, at most `lastWords`, then ends.
  private func finish() {
    guard exitStatus == nil, let service else { return exitStatus = 0 }
    EventLoop.shared.after(Self.lastWords) { [unowned self] in leave() }
    guard service.book.count > 0 else { return leave() }
    service.book.onEmpty = { [unowned self] in leave() }
  }

  /// How long workers and commands have to end by themselves.
  private static let grace = Duration.seconds(2)
  /// How long the history has to be written.
  private static let writingTime = Duration.seconds(1)

  /// Takes everything along that ends with the daemon, then ends.
  ///
  /// The connection is left to the kernel: closing it would tell of links that were interrupted, where
  /// the next daemon knows better what to do with them.
  private func leave() {
    guard exitStatus == nil, !isLeaving, let service else { return }
    isLeaving = true
    service.courier.stop()
    ChildProcess.endAll(within: Self.grace) { [self] in
      EventLoop.shared.after(Self.writingTime) { [self] in end() }
      Task {
        await service.recorder.flush()
        end()
      }
    }
  }

  private func end() {
    guard exitStatus == nil else { return }
    service?.connection.flush()
    exitStatus = 0
  }

  private func busIsGone() {
    guard exitStatus == nil else { return }
    Log.notice("the session bus has ended")
    guard let service else { return exitStatus = 0 }
    service.ledger.remove()
    leave()
  }
}
