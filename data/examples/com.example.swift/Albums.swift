import DeeplinkApp

/// An app in Swift: `com.example.swift:album/Summer?index=3` shows a picture of an album.
@main struct Albums {
  static func main() async throws {
    let shelf = Shelf()
    let app = try DeeplinkApp(id: "com.example.swift")
    app.answerURL("show-album") { link in
      let album = try link.string("album")
      let index = try link.integer("index")
      print("\(link.delivery): picture \(index) of \(album)")
      return [
        "album": .string(album), "index": .integer(index),
        "delivery": .string(link.delivery.rawValue),
        "shown": .integer(await shelf.add(album)),
      ]
    }
    do {
      try await app.run()
    } catch DeeplinkApp.Failure.alreadyRunning {
      print("another instance takes the links")
    }
  }
}

/// What was shown since the app started.
actor Shelf {
  private var albums: [String] = []

  func add(_ album: String) -> Int {
    albums.append(album)
    return albums.count
  }
}
