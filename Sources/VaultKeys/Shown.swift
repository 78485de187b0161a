package import VaultFormat

/// How a secret reached the vault. It travels with the secret to the place that logs the verdict.
package struct Shown: Sendable {
  /// How the prompt ended; nil where no person was asked.
  package var outcome: PromptOutcome?
  /// The item that it was asked for.
  package var item: Item?
  /// Earlier events that are not logged yet.
  package var earlier: [AuditNote] = []

  package init(outcome: PromptOutcome? = nil, item: Item? = nil) {
    self.outcome = outcome
    self.item = item
  }

  /// It came from a channel, or the program handed it over: no person was asked.
  package static let given = Shown()
  /// A person typed it at a prompt.
  package static let typed = Shown(outcome: .answered)

  /// The log entries of the secret, with the verdict.
  package func notes(_ secret: SecretName, result: AuditResult = .success) -> [AuditNote] {
    let own = AuditNote(
      operation: outcome == nil ? .given : .promptShown, item: item?.id, kind: item?.kind, result: result,
      detail: secret.rawValue, outcome: outcome)
    return earlier + [own]
  }
}
