package import VaultStorage

/// A 16-byte identifier: random when made, never reused, never changed.
///
/// The type parameter only keeps identifiers of different things apart.
public struct Identifier<Subject>: Sendable, Hashable {
  package let high: UInt64
  package let low: UInt64

  /// An identifier from its 16 bytes; `nil` for any other number of bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    for index in 0..<8 {
      words.0 = words.0 << 8 | UInt64(bytes[index])
      words.1 = words.1 << 8 | UInt64(bytes[index + 8])
    }
    (high, low) = words
  }

  /// The identifier as a row of the store holds it.
  package init(_ stored: Bytes16) { (high, low) = (stored.high, stored.low) }

  /// The identifier as a row of the store holds it.
  package var stored: Bytes16 { Bytes16(high: high, low: low) }

  /// An identifier from 32 hexadecimal digits of either case.
  public init?(hexadecimal text: String) {
    var bytes: [UInt8] = []
    let digits = Array(text.utf8)
    guard digits.count == 32 else { return nil }
    for index in stride(from: 0, to: 32, by: 2) {
      guard let upper = Self.nibble(digits[index]), let lower = Self.nibble(digits[index + 1]) else {
        return nil
      }
      bytes.append(upper << 4 | lower)
    }
    self.init(bytes)
  }

  /// The 16 bytes.
  public var bytes: [UInt8] {
    unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { unsafe [UInt8]($0) }
  }

  /// 32 lower-case hexadecimal digits.
  public var hexadecimal: String {
    unsafe String(unsafeUninitializedCapacity: 32) { digits in
      for index in 0..<32 {
        let word = index < 16 ? high : low
        let nibble = UInt8(truncatingIfNeeded: word >> (60 - 4 * (index & 15))) & 15
        unsafe digits[index] = nibble < 10 ? 0x30 + nibble : 0x61 - 10 + nibble
      }
      return 32
    }
  }

  package static var zero: Identifier { Identifier([UInt8](repeating: 0, count: 16))! }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}

extension Identifier: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String { hexadecimal }
}

/// What an ``ItemID`` identifies.
public enum ItemSubject {}
/// What a ``VaultID`` identifies.
public enum VaultSubject {}
/// What a ``DeviceKeyID`` identifies.
public enum DeviceKeySubject {}

/// The identifier of an item. Updates keep it; after the item is deleted, it is never used again.
public typealias ItemID = Identifier<ItemSubject>
/// The identifier of a vault; a backup and a restored vault keep it.
public typealias VaultID = Identifier<VaultSubject>
/// The identifier of a device key: `HMAC(DK, "vault/1/key-id")[0..16]`.
public typealias DeviceKeyID = Identifier<DeviceKeySubject>
