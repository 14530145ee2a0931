import DeeplinkBus
import DeeplinkLoop
import DeeplinkRouting
import DeeplinkWire

/// The one way in: every link, however it was sent, is admitted, routed and kept here.
@LoopActor final class Intake: Dispatcher, ApplicationService {
  private let book: DeliveryBook
  private let courier: Courier
  private let settings: Settings
  var table: RouteTable

  init(book: DeliveryBook, courier: Courier, settings: Settings, table: RouteTable) {
    self.book = book
    self.courier = courier
    self.settings = settings
    self.table = table
  }

  // MARK: Admission

  /// Accepts the link as a delivery, or finds the one that the same request has already.
  private func accept(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?
  ) throws(Refusal) -> DeliveryBook.Known {
    if let known = book.known(request: options.request) { return known }
    do throws(Refusal) {
      let (link, matches) = try admit(url)
      guard courier.hasRoom(for: matches) else {
        throw Refusal(
          .queueFull, "too many links wait for this app already", hint: "try again in a moment")
      }
      let delivery = book.add(link, options, from: sender, matches: matches)
      // After this turn, so that acceptance is answered before anything that comes of it.
      EventLoop.shared.eachRound { [courier] in
        courier.deliver(delivery)
        return true
      }
      return .open(delivery)
    } catch {
      book.countRefusal(error.code)
      throw error
    }
  }

  private func admit(_ url: String) throws(Refusal) -> (Link, [Match]) {
    let link = try Link(admitting: Array(url.utf8), maximumLength: settings.maximumLength)
    return (link, try table.matches(for: link))
  }

  // MARK: Dispatcher

  func submit(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor (Result<SubmitReply, DispatcherError>) -> Void
  ) {
    do throws(Refusal) {
      switch try accept(url, options, from: sender) {
      case .open(let delivery):
        completion(.success(SubmitReply(id: delivery.id, facts: facts(of: delivery))))
      case .ended(let reply):
        completion(.success(SubmitReply(id: reply.id, facts: ["durable": .boolean(isDurable)])))
      }
    } catch {
      completion(.failure(error.dispatcherError))
    }
  }

  func open(
    _ url: String, _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor (Result<OpenReply, DispatcherError>) -> Void
  ) {
    do throws(Refusal) {
      switch try accept(url, options, from: sender) {
      case .open(let delivery):
        wait(for: delivery, options.timeout ?? Self.openTimeout) { completion(.success($0)) }
      case .ended(let reply): completion(.success(reply))
      }
    } catch {
      completion(.failure(error.dispatcherError))
    }
  }

  /// Answers with the outcome, or with none once `timeout` has passed.
  private func wait(
    for delivery: Delivery, _ timeout: Duration, _ answer: @escaping @LoopActor (OpenReply) -> Void
  ) {
    var isAnswered = false
    let once: @LoopActor (OpenReply) -> Void = { reply in
      guard !isAnswered else { return }
      isAnswered = true
      answer(reply)
    }
    let limit = EventLoop.shared.after(timeout) { once(delivery.reply) }
    delivery.waiters.append { delivery in
      limit.cancel()
      once(delivery.reply)
    }
  }

  /// Below the 25 s after which most clients give up.
  private static let openTimeout = Duration.seconds(20)

  private func facts(of delivery: Delivery) -> [String: Value] {
    var facts: [String: Value] = ["durable": .boolean(isDurable)]
    if let match = delivery.match {
      facts["plugin"] = .string(match.plugin.id.text)
      facts["route"] = .string(match.route.name)
    }
    return facts
  }

  func canOpen(_ url: String) -> Bool { (try? admit(url)) != nil }

  func explain(_ url: String) -> String { "{}" }

  var schemes: [String] { table.schemes.map(\.text) }
  var pendingCount: UInt32 { UInt32(clamping: book.count) }
  var isDurable: Bool { false }
  var statistics: [String: UInt64] { book.statistics }

  // MARK: ApplicationService

  func open(
    urls: [String], _ options: LinkOptions, from sender: UniqueName?,
    completion: @escaping @LoopActor () -> Void
  ) {
    for (index, url) in urls.enumerated() {
      // A request names one link; several in one call are told apart by their number.
      var options = options
      options.request = options.request.map { urls.count > 1 ? "\($0)/\(index)" : $0 }
      do throws(Refusal) { _ = try accept(url, options, from: sender) } catch {
        Log.notice("a link was refused (\(error.code.rawValue)): \(error.message)")
      }
    }
    completion()
  }
}

extension Refusal {
  var dispatcherError: DispatcherError {
    DispatcherError(
      code: code.errorName, message: hint.map { "\(message)\nhint: \($0)" } ?? message)
  }
}
