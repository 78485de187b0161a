import CommandLineKit
import VaultKit

/// `vaultctl item edit NAME`.
func runItemEdit(_ command: Command) throws -> Outcome {
  let invocation = command.invocation
  let attributes: [(String, Attribute<String>)] = [
    ("service", .service), ("account", .account), ("label", .label), ("comment", .comment),
  ]
  let given = attributes.filter { invocation.has($0.0) }
  guard !given.isEmpty || ["expires", "no-expiry", "audit"].contains(where: invocation.has) else {
    throw CommandError.usage(
      "nothing to change", hint: "give --label, --comment, --service, --account, --expires or --audit")
  }
  guard !(invocation.has("expires") && invocation.has("no-expiry")) else {
    throw CommandError.usage("--expires and --no-expiry contradict each other")
  }
  var changes = ItemChanges()
  for (option, attribute) in given {
    let value = invocation.text(option) ?? ""
    if option == "service" || option == "account" { try Names.checkShown(value, named: "--\(option)") }
    if value.isEmpty { changes.removed.append(attribute.code) } else { changes.attributes[attribute] = value }
  }
  if let word = invocation.text("audit") { changes.audit = word == "all" ? .all : .changes }
  if invocation.has("no-expiry") { changes.expires = .some(nil) }
  let item = try command.vault.unlocking { core in
    if let seconds = invocation.duration("expires") {
      changes.expires = core.environment.clock.now().advanced(byMilliseconds: seconds * 1000)
    }
    let target = try core.read { try command.target(in: &$0) }
    return try core.update(target.id, changes, context: command.vault.context(for: target))
  }
  return Outcome(json: item.json)
}
