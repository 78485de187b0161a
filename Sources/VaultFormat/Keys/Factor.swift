/// A factor: an X25519 pair whose public half is in the header (section 5).
package struct Factor: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let passcode = Factor(rawValue: 0x0100_0000)
  package static let presence = Factor(rawValue: 0x0200_0000)
  package static let any = Factor(rawValue: 0x0300_0000)
  /// The login password as a member. It has its own number, which the factor MAC covers together with the half: the
  /// device key opens that half, so it must never pass for a member of a set.
  package static let login = Factor(rawValue: 0x0500_0000)
  /// The recovery half (header field 12) when header field 19 revokes it. Never a factor of an item.
  package static let recovery = Factor(rawValue: 0x0700_0000)

  /// The enrolled set of a generation.
  package static func set(_ generation: UInt32) -> Factor { Factor(rawValue: 0x0400_0000 + generation) }
  /// A member by its number, from 1.
  package static func member(_ number: UInt32) -> Factor { Factor(rawValue: 0x0600_0000 + number) }

  package var isSet: Bool { rawValue >> 24 == 4 }
  package var isMember: Bool { rawValue >> 24 == 6 || self == .login }
  /// Whether it is a factor of the format at all.
  package var isKnown: Bool { isSet || isMember || self == .passcode || self == .presence || self == .any }
  /// The greatest number within a kind.
  package static let greatestNumber: UInt32 = 0xFF_FFFF
  /// The number within its kind.
  package var number: UInt32 { rawValue & 0xFF_FFFF }

  /// The number as it is stored.
  package var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4)
    bytes.setBigEndian(rawValue, at: 0)
    return bytes
  }
}
