package import SecretMemory
import VaultCrypto

/// Whether a token or a consent is valid (section 12).
extension TokenLife {
  package enum Standing: Sendable, Equatable {
    case valid
    /// It has ended, or the clocks say so: it never becomes valid again.
    case over
    /// Nothing can be said, because the boot id cannot be read.
    case unknown
  }

  /// The boot must be the same, and both clocks must agree: a wall clock that was set back revives nothing.
  package func standing(_ clock: any VaultClock) -> Standing {
    guard let present = clock.bootID() else { return .unknown }
    let now = clock.bootMilliseconds()
    guard present == boot, now >= issuedBootTime, now - issuedBootTime < length else { return .over }
    let (elapsed, isBeyond) = clock.now().milliseconds.subtractingReportingOverflow(issued.milliseconds)
    guard !isBeyond, elapsed >= -Self.tolerance, elapsed <= boundedLength + Self.tolerance else {
      return .over
    }
    return .valid
  }

  /// Milliseconds of the boot clock that are left; 0 if it is not valid.
  package func millisecondsLeft(_ clock: any VaultClock) -> UInt64 {
    standing(clock) == .valid ? length - (clock.bootMilliseconds() - issuedBootTime) : 0
  }

  /// The wall time at which the item expires, if nothing ends it before.
  package var expires: Instant {
    issued.advanced(byMilliseconds: boundedLength + Self.tolerance + 1)
  }

  /// The value of ``session`` for the 32 bytes of a session.
  package static func hash(ofSession session: borrowing SecretBytes) -> [UInt8] {
    let digest = HashAlgorithm.sha256.hash(
      SecretBytes.joining(SecretBytes(copying: Array(Labels.session.utf8)), session))
    return digest.expose { $0.array }
  }

  private var boundedLength: Int64 { Int64(min(length, 1 << 53)) }

  /// By how much the wall clock may differ from the boot clock, in milliseconds.
  fileprivate static let tolerance: Int64 = 60_000
}

extension Item {
  /// ``expires`` for people: of a token or a consent that has not ended, without the time by which the clocks may differ.
  package var shownExpiry: Instant? {
    guard hasSecret, policy.understood?.life != nil else { return expires }
    return expires?.advanced(byMilliseconds: -TokenLife.tolerance - 1)
  }
}
