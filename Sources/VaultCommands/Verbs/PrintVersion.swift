import CommandLineKit
import TextFormats
import VaultWords

/// `vaultctl vault version`.
enum PrintVersion: VaultVerb {
  static let words = ["vault", "version"]
  static let summary = "Print the version of vaultctl and of the vault format it writes."
  static let needs = VaultNeed.noVault
  static let runsIn = RunPlace.anywhere
  static let examples = [
    "vaultctl vault version",
    "vaultctl vault version --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    Outcome(
      json: .object {
        Field("version", Version.tool)
        Field("format", Version.format)
      },
      lines: ["vaultctl \(Version.tool), vault format \(Version.format)"])
  }
}
