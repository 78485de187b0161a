import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl otp list`.
func runOTPList(_ command: Command) throws -> Outcome { try list(command, kind: .otp) }

/// `vaultctl otp show NAME`: the item and its state.
func runOTPShow(_ command: Command) throws -> Outcome {
  let (item, state) = try command.vault.opened().read { transaction in
    let item = try command.target(in: &transaction, kind: .otp)
    return (item, try transaction.state(of: item.id))
  }
  var json = item.json
  var facts: [(String, String)] = []
  if item.isCounterBased {
    json = json.adding("counter", .unsigned(state.counter))
    facts.append(("counter", String(state.counter)))
  }
  json = json.adding("needsResync", .boolean(state.needsResync)).adding(
    "failures", .integer(Int64(state.failures)))
  facts += [("needsResync", state.needsResync ? "yes" : "no"), ("failures", String(state.failures))]
  return Outcome(
    json: try command.withEnforcement(json, of: item),
    lines: item.lines(adding: facts + (try command.enforcementFacts(of: item))))
}

/// `vaultctl otp rm NAME`.
func runOTPRemove(_ command: Command) throws -> Outcome { try remove(command, kind: .otp) }
