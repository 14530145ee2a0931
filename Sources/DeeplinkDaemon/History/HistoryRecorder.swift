import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkStore
import DeeplinkWire

/// Collects what becomes of links and hands it to the history in batches.
@LoopActor final class HistoryRecorder {
  /// Where it is kept; nil until it is asked for, and without a value where it cannot be used.
  private var history: Task<History?, Never>?
  private let folder: String
  /// Where the file is opened.
  private let aside = SideExecutor()
  private let configuration: Configuration
  private var batch: [History.Entry] = []
  private var flushing: LoopTimer?
  /// The last batch on its way into the file, which waits for those before it.
  private var writing: Task<Void, Never>?

  init(directories: BaseDirectories, configuration: Configuration) {
    folder = directories.state
    self.configuration = configuration
  }

  private var isEnabled: Bool { configuration.settings.history.isEnabled }

  /// Opens the file with the first link: a person may want a history at any time, or none at all.
  private func opened() async -> History? {
    if let history { return await history.answer }
    let history = Task.detached(executorPreference: aside) { [folder] () -> History? in
      PrivateFiles.makeFolder(folder)
      let path = "\(folder)/history.db"
      do throws(DatabaseError) {
        let history = try History(path: path)
        PrivateFiles.makePrivate(path)
        return history
      } catch {
        Log.error("links will not be remembered: the history \(path) cannot be used: \(error)")
        return nil
      }
    }
    self.history = history
    return await history.answer
  }

  /// An accepted link came to its end.
  func record(_ delivery: Delivery) {
    guard isEnabled else { return }
    let kept = configuration.settings.history.keepsValues ? delivery.lastMatch : nil
    add(
      History.Entry(
        time: Clock.secondsSince1970, delivery: delivery.id, scheme: delivery.link.scheme.text,
        plugin: delivery.lastMatch?.plugin.id.text, route: delivery.lastMatch?.route.name,
        source: delivery.source?.key ?? Source.unknown.key, outcome: delivery.state.rawValue,
        reason: delivery.result["reason"]?.string, mode: delivery.mode?.rawValue,
        size: delivery.link.received.count, duration: delivery.age,
        values: kept?.keptParameters.description, omitted: kept?.omittedNames.description))
  }

  /// A link was turned away.
  ///
  /// Its scheme is kept only where a plugin has it.
  func record(_ refusal: Refusal, scheme: String, size: Int, source: Source) {
    guard isEnabled else { return }
    add(
      History.Entry(
        time: Clock.secondsSince1970, delivery: nil, scheme: scheme, plugin: nil, route: nil,
        source: source.key, outcome: "refused", reason: refusal.code.rawValue, mode: nil,
        size: size, duration: 0, values: nil, omitted: nil))
  }

  private func add(_ entry: History.Entry) {
    // A flood is counted in the statistics; here its newest part is enough.
    if batch.count < 10_000 { batch.append(entry) }
    flushSoon()
  }

  /// One batch at a time: a disk that hangs keeps one waiting, and no more than one collects behind it.
  private func flushSoon() {
    guard flushing == nil, !batch.isEmpty else { return }
    flushing = EventLoop.shared.after(.milliseconds(250)) { [weak self] in
      Task {
        await self?.flush()
        self?.flushing = nil
        self?.flushSoon()
      }
    }
  }

  /// Writes what was collected; returns when it and everything before it is in the file.
  func flush() async {
    if !batch.isEmpty {
      let (entries, former) = (batch, writing)
      batch = []
      writing = Task {
        await former?.answer
        await write(entries)
      }
    }
    await writing?.answer
  }

  private func write(_ entries: [History.Entry]) async {
    guard let history = await opened() else { return }
    let limits = configuration.settings.history
    do throws(DatabaseError) {
      try await history.add(entries, limits, now: Clock.secondsSince1970)
    } catch {
      Log.error("the history cannot be written: \(error), ignoring")
    }
  }

  /// The entries that fit `filter`, as a JSON list.
  func json(_ filter: History.Filter) async throws(DatabaseError) -> String {
    await flush()
    guard isEnabled || history != nil, let history = await opened() else { return "[]" }
    return JSONValue.array(try await history.entries(filter)).description
  }
}

extension Match {
  /// Parameters that are not sensitive.
  fileprivate var keptParameters: JSONValue {
    .object(parameters.filter { !route.isSensitive($0.key) }.mapValues(\.json))
  }

  /// The names of the others.
  fileprivate var omittedNames: JSONValue {
    .array(parameters.keys.filter(route.isSensitive).sorted().map { .string($0) })
  }
}
