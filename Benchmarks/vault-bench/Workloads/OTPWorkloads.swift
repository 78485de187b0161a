import OneTimePassword
import SecretMemory

/// Searches through many candidates, each with a forced kind of lanes. The calls of users are timed through the
/// public API.
enum OTPWorkloads {
  /// The names of the lanes that this processor supports for SHA-1.
  static var lanes: [String] { supported.map(\.rawValue) }

  /// A wrong code against `window` counters of one key.
  static func window(_ window: UInt64, lanes name: String) -> Workload {
    let generator = Box(
      must {
        try HOTPGenerator(key: secret(0), algorithm: .sha1, format: .sixDigits, lanes: lanes(name))
      })
    let code = must { try OTPCode("000000") }
    var first: UInt64 = 1
    return Workload("window of \(window), \(name)") {
      _ = generator.value.firstMatch(of: code, in: first...first + window - 1)
      first += window
    }
  }

  /// One wrong code for each of `credentials` keys, one candidate each.
  static func bulk(_ credentials: Int, lanes name: String) -> Workload {
    var verifier = BulkVerifier(
      capacity: credentials, algorithm: .sha1, format: .sixDigits, lanes: lanes(name))
    for number in 0..<credentials { _ = must { try verifier.add(key: secret(number)) } }
    let box = Box(verifier)
    let code = must { try OTPCode("000000") }
    let queries = (0..<credentials).map {
      BulkVerifier.Query(credential: $0, code: code, window: UInt64($0)...UInt64($0))
    }
    return Workload("\(credentials) credentials, \(name)") { _ = box.value.firstMatches(of: queries) }
  }

  private static var supported: [OTPLanes] { OTPLanes.allCases.filter { $0.isSupported(for: .sha1) } }

  private static func lanes(_ name: String) -> OTPLanes { OTPLanes(rawValue: name)! }

  private static func secret(_ number: Int) -> SecretBytes {
    SecretBytes(copying: (0..<20).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8) &+ $0) })
  }
}
