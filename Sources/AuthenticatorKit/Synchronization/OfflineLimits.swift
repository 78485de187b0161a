package import VaultKit

/// How far a prover goes without its server: the most codes, and the most seconds, since the last synchronization.
///
/// Beyond them the credential is out of step, and makes no code until it is synchronized. **Enforced by this library
/// alone**: the device key can change both limits.
package struct OfflineLimits: Equatable, Sendable {
  /// The most codes; `nil` for any number.
  package var codes: UInt32?
  /// The most seconds; `nil` for any time.
  package var seconds: UInt32?

  package init(codes: UInt32? = nil, seconds: UInt32? = nil) {
    (self.codes, self.seconds) = (codes, seconds)
  }

  /// Those of a credential. A negative number permits nothing.
  package init(_ item: Item) {
    codes = item.attributes[.offlineCodes].map { UInt32(clamping: $0) }
    seconds = item.attributes[.offlineSeconds].map { UInt32(clamping: $0) }
  }

  /// New limits from a peer; `nil` where it names none.
  ///
  /// - Throws: ``VaultError/Code/network`` for a value that is no such number.
  init(_ fields: TransportFields) throws(VaultError) {
    let bounds = 1...UInt64(UInt32.max)
    codes = try fields.number("offlineCodes", bounds).map { UInt32($0) }
    seconds = try fields.number("offlineSeconds", bounds).map { UInt32($0) }
  }

  package var isNone: Bool { codes == nil && seconds == nil }

  /// - Throws: ``VaultError/Code/malformed`` for limits of a verifier.
  func check(_ role: OTPRole) throws(VaultError) {
    guard role == .prover || isNone else {
      throw VaultError(
        .malformed, "a verifier makes no codes, so no limit of codes is for it",
        hint: "leave the limits out, or add a prover")
    }
  }

  /// Whether one of them is another one than that of a credential.
  func differ(from item: Item) -> Bool {
    let present = OfflineLimits(item)
    return codes ?? present.codes != present.codes || seconds ?? present.seconds != present.seconds
  }

  /// Writes the limits that there are; the others stay as they are.
  func write(to attributes: inout Attributes) {
    if let codes { attributes[.offlineCodes] = Int64(codes) }
    if let seconds { attributes[.offlineSeconds] = Int64(seconds) }
  }
}

extension VaultCore {
  /// When limits of a new credential begin: at the time that its codes are judged by, which may be ahead of the clock.
  func start(of limits: OfflineLimits) throws(VaultError) -> Instant {
    guard limits.seconds != nil else { return environment.clock.now() }
    var transaction = try beginReading()
    try transaction.readTime()
    return transaction.expiryTime
  }
}

extension NewItem {
  /// Limits a new credential. The time of adding counts as its first synchronization.
  mutating func limit(to limits: OfflineLimits, from now: Instant) {
    guard !limits.isNone else { return }
    limits.write(to: &attributes)
    state.lastSynchronization = now
  }
}
