import SecretMemory
import VaultKit

/// `vaultctl item add NAME`.
func runItemAdd(_ command: Command) throws -> Outcome {
  let invocation = command.invocation
  guard let name = invocation.argument("NAME") else { throw CommandError.usage("NAME is missing") }
  let secret = try command.newSecret()
  let item = try command.vault.unlocking { core in
    var new = NewItem(.genericPassword, name: name, attributes: command.attributes(defaultAccount: name))
    new.access = AccessControl(
      invocation.text("accessible").flatMap(Accessibility.init(word:)) ?? .whenUnlocked,
      thisDeviceOnly: invocation.has("this-device-only"))
    new.audit = invocation.text("audit") == "all" ? .all : .changes
    new.expires = invocation.duration("expires").map {
      core.environment.clock.now().advanced(byMilliseconds: $0 * 1000)
    }
    return try core.write { try $0.add(new, secret: secret.copy()) }
  }
  return Outcome(json: item.json)
}

extension Command {
  /// The secret to store: made by `--generate`, else from standard input.
  func newSecret() throws -> SecretBox {
    if let generator = invocation.text("generate").flatMap(Generator.init) {
      return SecretBox(try generator.secret(from: world.random))
    }
    let secret = try secrets.data("secret")
    guard secret.byteCount > 0 else {
      throw CommandError.malformed(
        "the secret is empty", hint: "give it on standard input, or use --generate 24")
    }
    return SecretBox(secret)
  }

  /// The attributes of the options; empty ones are left out.
  func attributes(defaultAccount: String?) -> Attributes {
    var attributes = Attributes()
    attributes[.service] = given("service")
    attributes[.account] = given("account") ?? defaultAccount
    attributes[.label] = given("label")
    attributes[.comment] = given("comment")
    return attributes
  }

  private func given(_ option: String) -> String? {
    invocation.text(option).flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension SecretBox {
  func copy() -> SecretBytes { expose { SecretBytes(copying: $0) } }
}
