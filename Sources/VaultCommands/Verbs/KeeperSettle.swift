import AgentMessages
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl keeper settle SIDE`: root decides a move of which the person's side cannot say how far it came.
enum KeeperSettle: VaultVerb {
  enum Side: String {
    case person
    case keeper
  }

  static let words = ["keeper", "settle"]
  static let summary = "As root: say which side has the vault after an interrupted move."
  static let side = Argument(
    "SIDE", .choice([Side.person.rawValue: Side.person, Side.keeper.rawValue: .keeper]), "person or keeper.")
  static let arguments = [side]
  static let needs = VaultNeed.noVault
  static let runsIn = RunPlace.client
  static let changesFiles = true
  static let ownExits: [ExitCode] = [.refused, .notFound, .damaged, .noVault, .unsupported]
  static let notes = [
    "A move by 'keeper adopt' or 'keeper leave' that was interrupted is ended by the person's next command to the keeper, which looks where "
      + "the vault is. Only where it finds nothing, because the file was moved or its disk is gone, an administrator decides: "
      + "sudo vault-keeper run PERSON -- keeper settle person.",
    "What the keeper has and no side needs is set aside in /var/lib/vaultd/UID/left, with its device key. Nothing is removed.",
    "With --json: path, the file on the person's side, and vault (person or keeper).",
  ]
  static let examples = [
    "vaultctl keeper settle person",
    "vaultctl keeper settle person --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    guard command.world.environment["VAULTD_PERSON"] != nil,
      let place = command.world.environment["HOME"].flatMap(KeeperPlace.init(state:)),
      let side = Side(rawValue: command.required(side))
    else {
      throw CommandError(
        .refused, "an administrator does this, who is a person",
        hint: "sudo vault-keeper run \"$USER\" -- keeper settle person|keeper", code: "personNeeded")
    }
    let move = KeeperMove(in: place, with: nil, environment: command.vaultWorld)
    guard let note = try move.decide(isPersons: side == .person) else {
      throw CommandError(.notFound, "no vault is on its way", hint: "there is nothing to decide")
    }
    return Outcome(
      json: .object {
        Field("path", note.path)
        Field("vault", side.rawValue)
      },
      lines: [
        side == .person
          ? "the person has the vault  \(printable(note.path))"
          : "the keeper has the vault  \(printable(place.vault))"
      ])
  }
}
