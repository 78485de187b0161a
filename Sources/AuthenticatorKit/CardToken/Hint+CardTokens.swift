package import VaultKit

extension Hint {
  package static let storeToken: Hint =
    "store a new one\(tool: " with 'vaultctl token put'"), or confirm a consent for it"
  package static let requestConsent: Hint = "request a new one\(tool: " with 'vaultctl consent request'")"
  package static let confirmConsent: Hint =
    "\("confirm it", tool: "run 'vaultctl consent confirm'") with the new code"
}
