package import VaultKit

extension Hint {
  package static let registerBiokey: Hint =
    "register it again with \("the PIN", tool: "'vaultctl biometry biokey register', which asks for the PIN")"
}
