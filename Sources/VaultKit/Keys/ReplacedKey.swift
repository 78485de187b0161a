import DeviceKeys
import VaultFormat
import VaultStorage

/// The fate of the device key that a rotation replaced.
public struct ReplacedKey: Sendable, Equatable {
  /// The file for which the key still exists; `nil` if the key was deleted.
  public let keeper: String?
  /// Whether that file is known to name the key. A file that cannot be read may name it.
  public let isKeeperReadable: Bool

  /// Whether the key was deleted.
  public var isDeleted: Bool { keeper == nil }

  package static let deleted = ReplacedKey(keeper: nil, isKeeperReadable: false)
  /// It still exists, because this file names it.
  package static func kept(for file: String) -> Self { Self(keeper: file, isKeeperReadable: true) }
  /// It still exists, because this file cannot be read and may name it.
  package static func perhapsNeeded(by file: String) -> Self { Self(keeper: file, isKeeperReadable: false) }
}
