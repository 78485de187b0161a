/// Who keeps the device key.
public enum ProtectorKind: UInt8, Sendable {
  /// A file of mode 0600 outside the vault's directory.
  case file = 1
  /// The desktop's Secret Service.
  case secretService = 2
  /// A TPM 2.0.
  case tpm = 3
}
