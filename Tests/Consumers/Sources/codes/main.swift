import OneTimePassword
import SecretMemory

// The first code of RFC 4226, appendix D.
let key = SecretBytes(capacity: 20) { bytes in
  for byte in "12345678901234567890".utf8 { bytes.append(byte) }
}
print(try HOTPGenerator(key: key).code(at: 0))
