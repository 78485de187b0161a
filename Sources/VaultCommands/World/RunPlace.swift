/// The process in which a verb runs, where there is an agent (docs/decisions/0046).
package enum RunPlace: Sendable {
  /// In the agent, which may have the vault open and unlocked.
  case agent
  /// In the process that the person started, because of what the verb does to it or to the vault.
  case client
  /// In the process that the person started, because the verb needs no vault. A line of a batch runs in the agent all the same.
  case anywhere
}
