package import VaultKit

extension Hint {
  package static let unlockPIN: Hint =
    "\("unlock it", tool: "run 'vaultctl pin unlock'") with the unlock key of the PIN"
}
