import DeeplinkDesktop
import DeeplinkRouting
import Testing

@testable import DeeplinkDaemon

/// Whose links are counted together, and how many of them are taken.
@Suite struct RatesTests {
  private static let scheme: Scheme = "com.example.demo"

  private static func source(terminal: Bool, confined: Bool) -> Source {
    var source = Source(kind: .executable, name: "/usr/bin/x")
    source.hasTerminal = terminal
    source.isConfined = confined
    return source
  }

  @Test func `a terminal has a bucket of its own, and a sandbox's word for one has not`() {
    func isInteractive(_ source: Source?, _ claim: Bool) -> Bool {
      Rates.Key(source, Self.scheme, claimsPerson: claim).isInteractive
    }
    #expect(!isInteractive(nil, false) && isInteractive(nil, true))
    #expect(isInteractive(Self.source(terminal: true, confined: false), false))
    #expect(isInteractive(Self.source(terminal: false, confined: false), true))
    #expect(!isInteractive(Self.source(terminal: false, confined: true), true))
    #expect(!isInteractive(Self.source(terminal: false, confined: false), false))
  }

  @Test func `a flood from programs leaves a person's links alone`() {
    var rates = Rates()
    let limits = Settings().rates
    var taken = 0
    for number in 0..<10 {
      let flood = Rates.Key(
        source: "executable:/usr/bin/\(number)", scheme: Self.scheme, isInteractive: false)
      for _ in 0..<1000 where rates.take(flood, limits, now: 0) { taken += 1 }
    }
    #expect(taken == limits.totalBurst)
    let person = Rates.Key(
      Self.source(terminal: true, confined: false), Self.scheme, claimsPerson: false)
    for _ in 0..<limits.burst {
      let isTaken = rates.take(person, limits, now: 0)
      #expect(isTaken)
    }
    let isOver = rates.take(person, limits, now: 0)
    let isBack = rates.take(person, limits, now: 0.05)
    #expect(!isOver && isBack)
  }
}
