package import VaultKit

extension Hint {
  package static let storeToken: Hint =
    "store a new one\(tool: " with 'vaultctl card put'"), or confirm a consent for it"
  package static let requestConsent: Hint =
    "request a new one\(tool: " with 'vaultctl card consent request'")"
  package static let confirmConsent: Hint =
    "\("confirm it", tool: "run 'vaultctl card consent confirm'") with the new code"
}
