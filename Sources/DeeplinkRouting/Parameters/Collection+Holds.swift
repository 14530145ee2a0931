extension Collection where Element: Equatable {
  /// Whether `part` stands somewhere in it.
  ///
  /// The standard library's own way brings its engine for regular expressions into the daemon.
  package func holds(_ part: some Collection<Element>) -> Bool {
    part.isEmpty || indices.contains { self[$0...].starts(with: part) }
  }
}
