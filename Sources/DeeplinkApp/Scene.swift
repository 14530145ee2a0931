import DeeplinkLoop

extension DeeplinkApp {
  /// A window with closures of its own.
  ///
  /// A link goes to the window that has a closure for its route and was active last, and to the app's
  /// own closures where no window has one.
  ///
  /// ```swift
  /// let window = app.scene()
  /// window.onOpenURL("show-album") { @MainActor link in … }
  /// window.becameActive()   // each time it comes to the front
  /// window.close()
  /// ```
  public final class Scene: Sendable {
    let number: Int
    let handlers = Handlers()
    private let service: AppService

    init(number: Int, service: AppService) {
      self.number = number
      self.service = service
    }

    /// As the app's own; with no route, every link that no other closure of this window takes.
    public func onOpenURL(_ route: String? = nil, perform: @escaping Handler<Void>) {
      handlers.set(route) { link in
        try await perform(link)
        return .handled
      }
    }

    public func answerURL(_ route: String? = nil, perform: @escaping Handler<Reply>) {
      handlers.set(route, perform)
    }

    /// The window is in front; from the first time on it takes links.
    public func becameActive() {
      Task { @LoopActor [service] in service.activate(self) }
    }

    /// The window is gone: its links go to another one or to the app.
    public func close() {
      Task { @LoopActor [service] in service.close(self) }
    }
  }
}
