import Synchronization

extension DeeplinkApp {
  /// What a closure says to the sender of a link.
  ///
  /// ```swift
  /// app.answerURL("import") { link in
  ///   let count = try await library.add(from: link.string("from"))
  ///   return ["count": .integer(count)]
  /// }
  /// ```
  public enum Reply: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// Done; the values go to the sender, where it waits for them.
    case handled([String: Value])
    /// Not a link for this app: the next route that matches gets it.
    case declined

    public static let handled = Reply.handled([:])

    public init(dictionaryLiteral members: (String, Value)...) {
      self = .handled(Dictionary(members, uniquingKeysWith: { $1 }))
    }
  }

  /// A closure for links, on the actor that it names: `{ @MainActor link in … }`.
  public typealias Handler<Answer> =
    nonisolated(nonsending) @Sendable (Link) async throws -> Answer

  /// The closures of an app or of one of its scenes.
  final class Handlers: Sendable {
    private struct Table {
      var routes: [String: Handler<Reply>] = [:]
      var others: Handler<Reply>?
    }
    private let table = Mutex(Table())

    func set(_ route: String?, _ handler: @escaping Handler<Reply>) {
      table.withLock { table in
        if let route { table.routes[route] = handler } else { table.others = handler }
      }
    }

    subscript(route: String) -> Handler<Reply>? {
      table.withLock { $0.routes[route] ?? $0.others }
    }

    /// The routes that it wants, as `RegisterScene` takes them: none for all.
    var routes: [String] {
      table.withLock { $0.others == nil ? $0.routes.keys.sorted() : [] }
    }
  }
}
