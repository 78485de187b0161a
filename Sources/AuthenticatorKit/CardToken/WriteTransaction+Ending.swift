import VaultKit

extension WriteTransaction {
  /// Ends a token or a consent: deletes its secret in this commit, and lets its row expire now. What has ended stays as it is.
  ///
  /// - Parameters:
  ///   - state: What became of a consent.
  ///   - operation: What is logged; `nil` for the end of a token, or of a consent.
  mutating func end(
    _ item: Item, as state: ConsentState = .revoked, operation: AuditOperation? = nil, detail: String? = nil
  ) throws(VaultError) {
    guard item.hasSecret else { return }
    let isConsent = item.kind == .consent
    try end(item, logging: operation ?? (isConsent ? .consentEnded : .tokenEnded), detail: detail) { found in
      if isConsent { found.set(state) }
      found.usesLeft = 0
    }
  }
}
