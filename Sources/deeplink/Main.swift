import DeeplinkCommandLine

@main struct Deeplink {
  static func main() { Program.main() }
}
