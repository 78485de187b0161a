public import SecretMemory
public import VaultFormat

/// The PIN of an item: ASCII digits, used unchanged.
public struct PIN: ~Copyable, Sendable {
  /// One byte per digit.
  package let bytes: SecretBytes

  /// A PIN.
  ///
  /// - Parameters:
  ///   - bytes: The digits, one ASCII character each.
  ///   - policy: How many digits it must have.
  /// - Throws: ``VaultError/Code/pinRefused`` for another number of digits, and for anything but ASCII digits.
  public init(_ bytes: consuming SecretBytes, policy: PINPolicy = .standard) throws(VaultError) {
    guard policy.permits(bytes) else {
      throw VaultError(.pinRefused, "a PIN is \(policy.words), 0 to 9")
    }
    self.bytes = bytes
  }

  package consuming func intoBytes() -> SecretBytes { bytes }
}

extension PINPolicy {
  fileprivate func permits(_ bytes: borrowing SecretBytes) -> Bool {
    guard lengths.contains(bytes.byteCount) else { return false }
    return bytes.expose { span in
      (0..<span.byteCount).allSatisfy { offset in
        let byte = unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        return UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      }
    }
  }
}
