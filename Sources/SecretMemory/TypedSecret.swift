/// What a person can type as a secret: a passcode, an application password, a phrase.
///
/// 1. It has 1 to 1,024 bytes.
/// 2. It has no NUL byte.
/// 3. All its bytes count: nothing is trimmed, normalized or converted.
/// 4. An empty answer is not a secret. The question says what an empty answer does; most often it cancels.
///
/// A prompt stops reading at ``longest`` bytes. The vault checks the rules again, because secrets also come from
/// files, descriptors and other programs.
package enum TypedSecret {
  /// The most bytes.
  package static var longest: Int { 1024 }

  /// Which rule a secret breaks.
  package enum Fault: Error {
    case empty
    case tooLong
    case containsNUL
  }
}

extension SecretBytes {
  /// The first rule of ``TypedSecret`` that these bytes break; nil for a secret that a person can type.
  package var typingFault: TypedSecret.Fault? {
    if byteCount == 0 { return .empty }
    if byteCount > TypedSecret.longest { return .tooLong }
    return containsNUL ? .containsNUL : nil
  }

  /// Whether a person can type these bytes as a secret.
  package var isTypable: Bool { typingFault == nil }

  /// Whether one of the bytes is 0.
  package var containsNUL: Bool {
    expose { bytes in
      (0..<bytes.byteCount).contains { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 0 }
    }
  }
}
