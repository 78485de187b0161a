import CPeers

/// One implementation of the operation that a race measures.
struct Contender {
  let name: String
  /// How many things one run does: candidates of a window, items of a list.
  let units: Double
  /// The most runs in one timed slice; a durable write is one.
  let most: Int
  /// Additional runs before the first timed one, to fill caches.
  var warmUp = 0
  let run: (Int) -> Void

  init(_ name: String, units: Double = 1, most: Int = .max, _ run: @escaping (Int) -> Void) {
    self.name = name
    self.units = units
    self.most = most
    self.run = run
  }

  /// Our own code.
  static func ours(_ workload: Workload, units: Double = 1, most: Int = .max, as name: String? = nil) -> Self
  {
    Contender("vault: " + (name ?? workload.name), units: units, most: most, workload.run)
  }

  /// One run of each part, one after the other.
  static func sequence(_ name: String, of parts: [(Int) -> Void]) -> Contender {
    Contender(name, most: 1) { count in
      for _ in 0..<count { for part in parts { part(1) } }
    }
  }

  /// The same, run this often before it is timed.
  func warmed(_ times: Int) -> Contender {
    var copy = self
    copy.warmUp = times
    return copy
  }

  /// A peer in C; `nil` if its library is not installed.
  static func peer(_ peer: UnsafeMutablePointer<peer>?, units: Double = 1, most: Int = .max) -> Self? {
    guard let peer = unsafe peer else { return nil }
    let name = unsafe String(cString: peer.pointee.name)
    return Contender(name, units: units, most: most) { count in unsafe peer_run(peer, count) }
  }
}
