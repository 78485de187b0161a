import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl item get NAME`.
func runItemGet(_ command: Command) throws -> Outcome {
  let field = command.invocation.text("field") ?? "secret"
  guard field == "secret" else { return try attribute(field, command) }
  let item = try command.vault.opened().read { try command.target(in: &$0) }
  let secret = try command.secret(of: item)
  if command.invocation.has("copy") {
    return try command.copy(
      secret, JSON.optional("name", item.name.map { .string($0) }) + [("id", .string(item.id.hexadecimal))])
  }
  return Outcome(json: secretJSON(item, secret), pieces: [.secret(secret), .newlineOnTerminal])
}

extension Command {
  /// The secret of an item, for whoever asked for it.
  ///
  /// - Throws: exit 9 for a one-time-password credential, which only makes codes.
  func secret(of item: Item) throws -> SharedSecret {
    guard item.kind != .otp else {
      throw CommandError(
        .refused, "the item is a one-time-password credential, whose secret is not shown here",
        hint: "use 'vaultctl otp code', or 'vaultctl otp export' to take it out")
    }
    return SharedSecret(try vault.unlocking { try $0.secret(of: item.id, context: vault.context(for: item)) })
  }
}

private func secretJSON(_ item: Item, _ secret: SharedSecret) -> JSON {
  var fields: [(String, JSON)] = [("id", .string(item.id.hexadecimal))]
  if let name = item.name { fields.insert(("name", .string(name)), at: 0) }
  fields.append(("secretBase64", .secretBase64(secret)))
  if secret.expose({ UTF8Text.isValid($0) }) { fields.append(("secret", .secretText(secret))) }
  return .object(fields)
}

/// A field that needs no unlocked vault.
private func attribute(_ field: String, _ command: Command) throws -> Outcome {
  let item = try command.vault.opened().read { try command.target(in: &$0) }
  let texts: [String: String?] = [
    "name": item.name, "service": item.attributes[.service], "account": item.attributes[.account],
    "label": item.attributes[.label], "comment": item.attributes[.comment], "id": item.id.hexadecimal,
  ]
  guard !command.invocation.has("copy") else {
    throw CommandError.usage("--copy is for the secret, not for --field \(field)")
  }
  guard let value = texts[field] ?? nil else {
    throw CommandError(.notFound, "the item has no \(field)", code: "fieldNotFound")
  }
  return Outcome(
    json: .object(
      [("id", .string(item.id.hexadecimal)), (field, .string(value))].filter { field != "id" || $0.0 == "id" }
    ),
    pieces: [.text(value), .newlineOnTerminal])
}
