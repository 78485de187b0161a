package import VaultKit

extension ProtectorKind {
  /// The word of `--protector`.
  package var word: String {
    switch self {
    case .file: "file"
    case .secretService: "secret-service"
    case .tpm: "tpm"
    default: "own-\(rawValue)"
    }
  }
}
