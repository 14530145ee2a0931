import DeeplinkApp

// The Swift of the documentation, compiled; DocumentationTests compares it with the pages.

@MainActor final class Gallery {
  func show(album: String, index: Int) {}
  func skipWelcome() {}
}

func showShareButton() {}

func readme(_ gallery: Gallery) async throws {
  let app = try DeeplinkApp(id: "com.example.photos")
  app.onOpenURL("show-album") { @MainActor link in
    gallery.show(album: try link.string("album"), index: try link.integer("index"))
  }
  try await app.start()
}

func oneDoor(_ app: DeeplinkApp, _ gallery: Gallery) async throws {
  app.onOpenURL("show-album") { @MainActor link in
    gallery.show(album: try link.string("album"), index: try link.integer("index"))
    if link.delivery == .launch { gallery.skipWelcome() }
  }
  try await app.start()
}

func windows(_ app: DeeplinkApp, _ gallery: Gallery) {
  let window = app.scene()
  window.onOpenURL("show-album") { @MainActor link in
    gallery.show(album: try link.string("album"), index: try link.integer("index"))
  }
  window.becameActive()
}

func opening(_ app: DeeplinkApp) async throws {
  let outcome = try await app.open("com.example.notes:add?text=Milk")
  switch outcome.state {
  case .delivered: print("added as", outcome.result["note"]?.string ?? "a new note")
  case .failed: print(outcome.message ?? "it failed")
  default: print("not added:", outcome.state)
  }
  if try await app.canOpen("com.example.notes:add?text=Milk") { showShareButton() }
}
