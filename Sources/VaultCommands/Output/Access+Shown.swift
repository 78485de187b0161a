import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

extension Command {
  /// The access control that the options of a new item describe.
  ///
  /// - Throws: exit 9 for constraints that exclude each other; 2 for an application password that no constraint names, because the
  ///   item would be stored without it.
  func newAccess(accessible: Accessibility?) throws -> AccessControl {
    let constraints = self[ItemOptions.access] ?? []
    let access = try AccessControl(
      constraints, accessibility: accessible ?? .whenUnlocked,
      thisDeviceOnly: self[ItemOptions.thisDeviceOnly])
    let password = SecretChannel.applicationPassword.option(in: invocation)
    guard let password, !access.constraints.contains(.applicationPassword) else { return access }
    throw CommandError.usage(
      "\(password.shown): the item would not be behind this password",
      hint: "put it there with --access application-password, or leave the option out")
  }

  /// The JSON of an item, with the enforcement of its constraints in this vault.
  func withEnforcement(_ json: JSON, of item: Item) throws -> JSON {
    guard item.isConstrained else { return json }
    let core = try vault.opened()
    let enforced = item.access.enforcement(with: try core.verificationSources())
    let fields = enforced.map { entry in
      (
        entry.constraint.shown.joined(),
        JSON.string(
          entry.enforcement == .keyDerivation ? "keyDerivation" : world.isKeeper ? "keeper" : "advisory")
      )
    }
    let json = json.adding("enforcement", .object(fields))
    return try core.isBeyondReach(item) ? json.adding("beyondReach", .boolean(true)) : json
  }

  /// The same, as text.
  func enforcementFacts(of item: Item) throws -> [(String, String)] {
    guard item.isConstrained else { return [] }
    let core = try vault.opened()
    var facts = item.access.enforcement(with: try core.verificationSources()).map { entry in
      let words =
        switch entry.enforcement {
        case .keyDerivation: "enforced by key derivation"
        case .advisory where world.isKeeper: "enforced by the keeper"
        case .advisory(let why): "advisory in this process: \(why)"
        }
      return ("  " + entry.constraint.shown.joined(), words)
    }
    if try core.isBeyondReach(item) {
      facts.append(
        ("  note", "nobody can open it any more: the enrolled set has changed since it was stored"))
    }
    return facts
  }
}
