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
    let sorted = keys.sorted { ($0.item.name ?? "").lowercased() < ($1.item.name ?? "").lowercased() }
    return Outcome(
      json: .object { Field("items", .array(sorted.map { $0.json(at: moment) })) },
      pieces: command.list(
        [
          Table.Column("NAME"), Table.Column("TYPE"),
          Table.Column("PIN OF ITS PUBLIC KEY", isSecondary: true),
        ],
        count: sorted.count, ifEmpty: "there is no key: 'vaultctl key generate NAME' makes one"
      ) { index in
        let key = sorted[index]
        let hasExpired = moment.hasExpired(key.item)
        return ListRow(
          cells: [key.item.name ?? key.item.id.hexadecimal, key.type.rawValue, key.publicKey.pin],
          marks: [key.isExportable ? "exportable" : nil, hasExpired ? "expired" : nil].compactMap(\.self),
          warns: hasExpired)
      })
  }
}
