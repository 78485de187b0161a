/// How a PIN is judged.
@nonexhaustive
public enum PINMode: UInt8, Sendable, CaseIterable {
  /// By the vault: it counts wrong PINs, and blocks the PIN at a limit. **Enforced by key derivation**; a person with the
  /// vault file and the device key makes the 10,000 guesses in minutes.
  case checked = 1
  /// By the server alone: a wrong PIN gives a wrong code, and nothing in the vault tells the difference. **Enforced by
  /// cryptography** until an attacker with the vault file and the device key sees one code.
  case camouflaged = 2
}
