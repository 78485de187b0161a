import SecretMemory
import VaultKit

/// A code that a person types and the peer judges. Nothing about it is stored here: a hash of a short code would tell it.
enum PeerCode {
  /// - Throws: ``VaultError/Code/malformed``.
  static func check(_ code: SharedSecret) throws(VaultError) {
    let isWhole = code.expose { bytes in
      (1...1024).contains(bytes.byteCount) && !(0..<bytes.byteCount).contains { bytes.byte(at: $0) == 0 }
    }
    guard isWhole else {
      throw VaultError(
        .malformed, "a code of the server has 1 to 1,024 bytes, none of them NUL",
        hint: "type it as the server sent it")
    }
  }
}
