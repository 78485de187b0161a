import Foundation
import OneTimePassword
import SecretMemory

/// A secret with these bytes.
func secret(_ bytes: some Collection<UInt8>) -> SecretBytes {
  SecretBytes(capacity: bytes.count) { output in
    for byte in bytes { output.append(byte) }
  }
}

/// A secret with the UTF-8 of `text`.
func secret(_ text: String) -> SecretBytes { secret(text.utf8) }

/// The key of RFC 4226 appendix D.
func rfcKey() -> SecretBytes { secret("12345678901234567890") }

/// The same key in Base32.
let rfcKeyText = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

func bytes(of secret: borrowing SecretBytes) -> [UInt8] {
  secret.expose { span in
    unsafe span.withUnsafeBytes { unsafe Array($0) }
  }
}

func text(of secret: borrowing SecretBytes) -> String { String(decoding: bytes(of: secret), as: UTF8.self) }

func bytes(hex: String) -> [UInt8] {
  let digits = Array(hex.utf8)
  return stride(from: 0, to: digits.count, by: 2).map { index in
    UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)!
  }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Pairs of counters that have one six-digit code under the key of RFC 4226: in one group of lanes, and far apart.
let twins: [ClosedRange<UInt64>] = [153_567...153_569, 336...2205]
