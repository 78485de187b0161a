/// The process in which a verb runs, where there is an agent (docs/decisions/0046).
package enum RunPlace: Sendable {
  /// In the agent, which may have the vault open and unlocked.
  case agent
  /// In the process that the person started.
  case client
}
