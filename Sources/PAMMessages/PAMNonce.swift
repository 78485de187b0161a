/// 16 random bytes that tell one request from all others.
package struct PAMNonce: Equatable, Sendable {
  let bytes: [UInt8]

  package static func random() -> PAMNonce {
    var generator = SystemRandomNumberGenerator()
    return PAMNonce(bytes: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }
}
