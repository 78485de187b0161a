import CommandLineKit
import SecretMemory

extension SharedSecret {
  func copy() -> SecretBytes { expose { SecretBytes(copying: $0) } }
}
