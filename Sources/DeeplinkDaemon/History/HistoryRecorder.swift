import DeeplinkActions
import DeeplinkBus
import DeeplinkDesktop
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkStore
import DeeplinkWire

/// Collects what becomes of links and hands it to the history in batches.
@LoopActor final class HistoryRecorder {
  private let history: History?
  private let configuration: Configuration
  private var batch: [History.Entry] = []
  private var flushing: LoopTimer?
  /// How many batches are on their way into the file.
  private var writing = 0

  init(directories: BaseDirectories, configuration: Configuration) {
    self.configuration = configuration
    guard configuration.settings.history.isEnabled else {
      history = nil
      return
    }
    PrivateFiles.makeFolder(directories.state)
    let path = "\(directories.state)/history.db"
    do throws(DatabaseError) {
      history = try History(path: path)
      PrivateFiles.makePrivate(path)
    } catch {
      Log.error("links will not be remembered: the history \(path) cannot be used: \(error)")
      history = nil
    }
  }

  var isOpen: Bool { history != nil }

  /// An accepted link came to its end.
  func record(_ delivery: Delivery) {
    guard history != nil, configuration.settings.history.isEnabled else { return }
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
    guard history != nil, configuration.settings.history.isEnabled else { return }
    add(
      History.Entry(
        time: Clock.secondsSince1970, delivery: nil, scheme: scheme, plugin: nil, route: nil,
        source: source.key, outcome: "refused", reason: refusal.code.rawValue, mode: nil,
        size: size, duration: 0, values: nil, omitted: nil))
  }

  private func add(_ entry: History.Entry) {
    // A flood is counted in the statistics; here its newest part is enough.
    if batch.count < 10_000 { batch.append(entry) }
    guard flushing == nil else { return }
    flushing = EventLoop.shared.after(.milliseconds(250)) { [weak self] in
      self?.flushing = nil
      Task { await self?.flush() }
    }
  }

  /// Writes what was collected; returns when it is in the file.
  func flush() async {
    // One that is being written is waited for as well.
    guard let history, !batch.isEmpty || writing > 0 else { return }
    writing += 1
    defer { writing -= 1 }
    let entries = batch
    batch = []
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
    guard let history else { return "[]" }
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
