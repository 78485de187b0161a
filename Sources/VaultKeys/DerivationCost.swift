import PasswordDerivation
import VaultCrypto
import Glibc

/// What a derivation costs, for people.
package struct DerivationCost: Sendable {
  package let memoryKiB: Int
  package let passes: Int
  package let lanes: Int
  package let milliseconds: Int64

  package init(_ measured: DerivationCalibration.Measured) {
    memoryKiB = Int(measured.parameters.memoryKiB)
    passes = Int(measured.parameters.iterations)
    lanes = Int(measured.parameters.parallelism)
    milliseconds = measured.time.milliseconds
  }
}
