import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl key list`.
enum KeyList: VaultVerb {
  static let words = ["key", "list"]
  static let summary = "List the keys that sign, with their pins."
  static let notes = [
    "With --json, beside what 'ls' prints: type, exportable, pin (base64 of the SHA-256 of the public key), "
      + "certificates (how many)."
  ]
  static let examples = [
    "vaultctl key list --json",
    "vaultctl key list",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    let (keys, moment) = (try core.listClientKeys(), try core.expiryMoment())
    return Outcome(
      json: .object { Field("items", .array(keys.map { $0.json(at: moment) })) },
      lines: columns(
        keys.map {
          [
            $0.item.name ?? $0.item.id.hexadecimal, $0.type.rawValue, $0.publicKey.pin,
            $0.isExportable ? "exportable" : "",
          ] + (moment.hasExpired($0.item) ? ["expired"] : [])
        }))
  }
}
