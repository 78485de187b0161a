import SecretMemory
import VaultKit

/// `vaultctl item add NAME`.
func runItemAdd(_ command: Command) throws -> Outcome {
  let invocation = command.invocation
  guard let name = invocation.argument("NAME") else { throw CommandError.usage("NAME is missing") }
  let access = try command.newAccess()
  let attributes = try command.attributes(defaultAccount: name)
  if !invocation.has("generate") { try command.vault.unlockBeforeTyping(access) }
  let secret = try command.newSecret()
  let context = try command.vault.context(for: access)
  let item = try command.vault.unlocking { core in
    var new = NewItem(.genericPassword, name: name, attributes: attributes)
    new.access = access
    new.audit = invocation.text("audit") == "all" ? .all : .changes
    new.expires = invocation.duration("expires").map {
      core.environment.clock.now().advanced(byMilliseconds: $0 * 1000)
    }
    return try core.add(new, secret: secret.copy(), context: context)
  }
  return Outcome(json: command.withEntropy(item.json))
}

extension Command {
  /// The secret to store: made by `--generate`, else from standard input.
  func newSecret() throws -> SecretBox {
    if let generator = invocation.text("generate").flatMap(Generator.init) {
      let secret = SecretBox(try generator.secret(from: world.random))
      noteEntropy(of: generator)
      return secret
    }
    let secret = try secrets.data("secret", to: "store a secret")
    guard secret.byteCount > 0 else {
      throw CommandError.malformed(
        "the secret is empty", hint: "give it on standard input, or use --generate 24")
    }
    return SecretBox(secret)
  }

  /// Says how hard the generated secret is to guess.
  private func noteEntropy(of generator: Generator) {
    let bits = generator.bitCount
    let what = generator.alphabet == .words ? "words" : "characters of \(generator.alphabet.rawValue)"
    messages.note("generated \(generator.length) \(what): \(bits) bits")
    if bits < Generator.enoughBits {
      messages.note(
        "that can be guessed; \(Generator.enoughBits) bits and more cannot, like --generate 24 or 8:words")
    }
  }

  /// The result with the bits of the generated secret, if it was generated.
  func withEntropy(_ json: JSON) -> JSON {
    guard let generator = invocation.text("generate").flatMap(Generator.init) else { return json }
    return json.adding("entropyBits", .integer(Int64(generator.bitCount)))
  }

  /// The attributes of the options; empty ones are left out.
  ///
  /// - Throws: exit 12 where a service or an account would not show as what it is.
  func attributes(defaultAccount: String?) throws(CommandError) -> Attributes {
    for option in ["service", "account"] {
      try Names.checkShown(invocation.text(option) ?? "", named: "--\(option)")
    }
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
