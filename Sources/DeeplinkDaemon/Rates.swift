import DeeplinkDesktop
import DeeplinkRouting

/// How many links are taken from whom: token buckets for each source and scheme, and one over all.
struct Rates: Sendable {
  /// Who a bucket is for.
  ///
  /// People at a terminal have their own: a page's flood locks nobody out.
  struct Key: Hashable, Sendable {
    var source: String
    var scheme: Scheme
    var isInteractive: Bool
  }

  private var buckets: [Key: TokenBucket] = [:]
  private var everybody: TokenBucket?

  /// Full buckets are forgotten when there are more than this.
  private static let maximumBuckets = 1024

  /// Takes one link's token; false when there is none.
  mutating func take(_ key: Key, _ limits: Settings.Rates, now: Double) -> Bool {
    guard limits.isEnabled else { return true }
    if buckets.count > Self.maximumBuckets {
      buckets = buckets.filter { !$0.value.isFull(now: now) }
    }
    var own =
      buckets[key]
      ?? TokenBucket(capacity: Double(limits.burst), perSecond: Double(limits.perSecond), now: now)
    var all =
      everybody
      ?? TokenBucket(
        capacity: Double(limits.totalBurst), perSecond: Double(limits.totalPerSecond), now: now)
    own.setLimits(capacity: Double(limits.burst), perSecond: Double(limits.perSecond))
    all.setLimits(
      capacity: Double(limits.totalBurst), perSecond: Double(limits.totalPerSecond))
    defer {
      // With every bucket in use the newcomers share what is left for all.
      if buckets.count <= 2 * Self.maximumBuckets { buckets[key] = own }
      everybody = all
    }
    guard own.take(now: now) else { return false }
    return key.isInteractive || all.take(now: now)
  }
}

/// Tokens that come back at a steady rate, up to a capacity.
struct TokenBucket: Hashable, Sendable {
  private var capacity: Double
  private var perSecond: Double
  private var tokens: Double
  private var last: Double

  init(capacity: Double, perSecond: Double, now: Double) {
    self.capacity = capacity
    self.perSecond = perSecond
    tokens = capacity
    last = now
  }

  /// Settings may change while links come.
  mutating func setLimits(capacity: Double, perSecond: Double) {
    self.capacity = capacity
    self.perSecond = perSecond
  }

  mutating func take(now: Double) -> Bool {
    tokens = min(capacity, tokens + max(0, now - last) * perSecond)
    last = max(last, now)
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  func isFull(now: Double) -> Bool { tokens + (now - last) * perSecond >= capacity }
}
