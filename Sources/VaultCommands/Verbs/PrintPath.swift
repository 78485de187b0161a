import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl vault path`: the vault's path alone on standard output, so that a script can use it.
enum PrintPath: VaultVerb {
  static let words = ["vault", "path"]
  static let summary = "Print the path of the vault, whether it exists or not."
  static let needs = VaultNeed.noVault
  static let runsIn = RunPlace.anywhere
  static let ownExits: [ExitCode] = [.noVault]
  static let examples = [
    "vaultctl vault path",
    "vaultctl vault path --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let path = try command.places.vault
    var fields: [(String, JSON)] = [("path", .string(path))]
    if let outline = try? VaultCore.outline(at: path), let key = command.places.keyPath(of: outline) {
      fields.append(("deviceKey", .string(key)))
      command.messages.note("its device key is \(key)")
    }
    return Outcome(json: .object(fields), lines: [path])
  }
}
