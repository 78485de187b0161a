import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl item add NAME`.
func runItemAdd(_ command: Command) throws -> Outcome {
  let invocation = command.invocation
  guard let name = invocation.argument("NAME") else { throw CommandError.usage("NAME is missing") }
  // Where there is no vault, nothing is asked for and read.
  _ = try command.vault.opened()
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
  func newSecret() throws -> SharedSecret {
    if let generator = invocation.text("generate").flatMap(Generator.init) {
      let secret = SharedSecret(try generator.secret(from: world.random))
      noteEntropy(of: generator)
      return secret
    }
    let secret = try secrets.data("secret", to: "store a secret")
    guard secret.byteCount > 0 else {
      throw CommandError.malformed(
        "the secret is empty", hint: "give it on standard input, or use --generate 24")
    }
    if secret.expose(isLineWithNewline) {
      messages.note("the secret ends in a newline, which is stored with it; 'printf %s' writes none")
    }
    return SharedSecret(secret)
  }

  /// Says how hard the generated secret is to guess.
  private func noteEntropy(of generator: Generator) {
    let bits = generator.bitCount
    let what = generator.alphabet == .words ? "words" : "characters of \(generator.alphabet.rawValue)"
    messages.note("generated \(generator.length) \(what): \(bits) bits")
    if SecretStrength(bitCount: bits).isGuessable {
      messages.note(
        "that can be guessed; \(SecretStrength.enoughBits) bits and more cannot, like --generate 24 or 6:words"
      )
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

/// Whether a newline is at the end and nowhere else. A key or another text of several lines ends in one on purpose.
private func isLineWithNewline(_ bytes: RawSpan) -> Bool {
  let count = bytes.byteCount
  guard count > 1 else { return false }
  return (0..<count).allSatisfy { index in
    let isNewline = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) == UInt8(ascii: "\n")
    return isNewline == (index == count - 1)
  }
}
