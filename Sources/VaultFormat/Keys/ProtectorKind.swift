/// Who keeps the device key, as the header of the vault names it. An open registry.
///
/// The numbers from 128 on are for protectors of other programs. A vault whose header has such a number opens only for a
/// call that gives the protector.
public struct ProtectorKind: RawRepresentable, Hashable, Sendable {
  /// The number in the file.
  public let rawValue: UInt8
  /// The kind of this number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A file of mode 0600 outside the vault's directory.
  public static let file = ProtectorKind(rawValue: 1)
  /// The desktop's Secret Service.
  public static let secretService = ProtectorKind(rawValue: 2)
  /// A TPM 2.0. This version has no such protector.
  public static let tpm = ProtectorKind(rawValue: 3)

  /// A kind of the program's own.
  ///
  /// - Parameter number: 128 to 255; other programs may use the same number for their protectors.
  /// - Precondition: The number is 128 or more.
  public static func own(_ number: UInt8) -> ProtectorKind {
    precondition(number >= 128, "ProtectorKind.own: the numbers below 128 belong to the format")
    return ProtectorKind(rawValue: number)
  }

  /// Whether a program other than ours keeps the key.
  package var isOwn: Bool { rawValue >= 128 }
  /// Whether this version may open a vault of this kind.
  package var isKnown: Bool { isOwn || [.file, .secretService, .tpm].contains(self) }
}
