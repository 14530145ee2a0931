import DeeplinkDaemon

@main struct Deeplinkd {
  static func main() { Program.main() }
}
