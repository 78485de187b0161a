import PasswordDerivation
import VaultCrypto
import Glibc

/// What a derivation of a passcode's keys costs: the parameters of Argon2id (RFC 9106 §3.1), and its time.
public struct DerivationCost: Sendable {
  /// The memory, in KiB.
  public let memoryKiB: Int
  /// How often the memory is passed over.
  public let passes: Int
  /// How many lanes are computed side by side.
  public let lanes: Int
  /// The time of one derivation on this machine, as measured.
  public let milliseconds: Int64

  package init(_ measured: DerivationCalibration.Measured) {
    memoryKiB = Int(measured.parameters.memoryKiB)
    passes = Int(measured.parameters.iterations)
    lanes = Int(measured.parameters.parallelism)
    milliseconds = measured.time.milliseconds
  }
}
