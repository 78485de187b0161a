import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl passcode remove`: what dies with it is named before the passcode is asked for, and in the result.
enum PasscodeRemove: VaultVerb {
  static let words = ["passcode", "remove"]
  static let summary = "Remove the passcode. Items stored with --accessible when-passcode-set are destroyed."
  static let needs = VaultNeed.unlocked
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let notes = ["The items that are destroyed are listed in the result."]
  static let examples = [
    "vaultctl passcode remove --passcode-fd 3 3<old",
    "vaultctl passcode remove --passcode-file old",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    guard core.hasPasscode else { throw CommandError.noPasscode }
    let dying = try core.itemsBehindPasscode().items
    for item in dying {
      command.messages.note(
        "this destroys '\(item.name ?? item.id.hexadecimal)', which opens with a passcode set only")
    }
    // Who types the passcode agrees to the list just shown; a script has agreed to whatever there is.
    let isAsked = command.secrets.willAsk(.passcode)
    let old = try command.vault.checkedPasscode(of: core, to: "remove the passcode")
    return outcome(try core.removePasscode(old.checked, announced: isAsked ? dying.map(\.id) : nil))
  }
}

private func outcome(_ destroyed: DestroyedItems) -> Outcome {
  let items = destroyed.items.map { item in
    JSON.object {
      Field("id", item.id.hexadecimal)
      Field("name", item.name)
    }
  }
  return Outcome(
    json: .object {
      Field("passcode", false)
      Field("destroyed", .array(items))
    },
    lines: destroyed.items.map { "destroyed  " + printable($0.name ?? $0.id.hexadecimal) })
}
