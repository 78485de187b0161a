package import VaultKit

/// What to do with a credential of a server.
extension Hint {
  package static let activateCredential: Hint =
    "start an activation with \(tool: "'vaultctl otp activate start' and ")a code of the server"
  package static let finishActivation: Hint =
    "\("finish the activation", tool: "run 'vaultctl otp activate finish'") with the second code of the server"
  package static let guardWithPIN: Hint =
    "name a PIN item\(tool: " with --pin"), or have one made\(tool: " with --pin-mode")"
  package static let unlockCredential: Hint =
    "\("unlock it", tool: "run 'vaultctl pin unlock --transport PROGRAM'") with a code of the server"
  package static let beginUnlock: Hint =
    "have the server send a new code\(tool: " with 'vaultctl pin unlock --start --transport PROGRAM'")"
  package static let disableCredential: Hint = """
    \("a synchronization", tool: "'vaultctl otp sync'") asks again; if the server removed this device, \
    \("disabling it", tool: "'vaultctl otp activate disable NAME --force'") ends the credential here, and a new activation replaces it
    """
  package static let synchronize: Hint =
    "\("synchronize it with its server", tool: "run 'vaultctl otp sync --transport PROGRAM'")"
  package static let showCredentialStatus: Hint =
    "\("look at its status", tool: "'vaultctl otp activate status' shows it")"
}
