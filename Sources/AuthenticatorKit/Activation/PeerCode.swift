import SecretMemory
import TextPreparation
import VaultKit

/// A code that a person types and the peer judges. Nothing about it is stored here: a hash of a short code would tell it.
enum PeerCode {
  /// The code as the peer gets it: of digits, without the blanks and dashes of who wrote or typed them.
  ///
  /// - Throws: ``VaultError/Code/malformed``.
  static func read(_ code: SharedSecret) throws(VaultError) -> SharedSecret {
    let isWhole = code.expose { bytes in
      (1...1024).contains(bytes.byteCount) && !(0..<bytes.byteCount).contains { bytes.byte(at: $0) == 0 }
    }
    guard isWhole else {
      throw VaultError(
        .malformed, "a code of the server has 1 to 1,024 bytes, none of them NUL",
        hint: "type it as the server sent it")
    }
    return SharedSecret(TypedCode.ungrouped(code.bytes.copy()))
  }
}
