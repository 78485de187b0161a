import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin status [PINITEM]`: asks nobody, works while the vault is locked.
enum ShowPINStatus: VaultVerb {
  static let words = ["pin", "status"]
  static let summary = "Show a PIN item, or list all of them. Needs neither the PIN nor the passcode."
  static let arguments = [PINOptions.item]
  static let ownExits: [ExitCode] = [.notFound]
  static let notes = [
    "After the vault was copied or restored, the next PIN needs the passcode once.",
    "With --json: pinMode says what makes a code behind the PIN: 1 the PIN, 9 the PIN or a biokey; marked whether the vault was copied or "
      + "restored since the last PIN. Also name, id, mode (checked, camouflaged, or unknown), blocked (true or false), uses, and credentials "
      + "(the names of those behind it). A checked PIN also has limit and attemptsLeft, a camouflaged PIN has pending and "
      + "codesSinceConfirmation. Without PINITEM: items, a list of these.",
  ]
  static let examples = [
    "vaultctl pin status --json",
    "vaultctl pin status pin-camouflaged",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    guard command[PINOptions.item] != nil else {
      let all = try core.pinStatuses().sorted { $0.name.lowercased() < $1.name.lowercased() }
      let items = try all.map { try $0.json(core) }
      return Outcome(
        json: .object { Field("items", .array(items)) },
        pieces: command.list(
          ["NAME", "MODE", "STATE"].map { Table.Column($0) }, count: all.count,
          ifEmpty: "there is no PIN: 'vaultctl pin set NAME' makes one"
        ) {
          ListRow(
            cells: [all[$0].name, all[$0].modeWord, all[$0].summary],
            marksOnTerminal: all[$0].isBlocked ? ["locked PIN"] : [], warns: all[$0].isBlocked)
        })
    }
    let status = try command.pinStatus(of: command.pinItem().id)
    return Outcome(json: try status.json(core), lines: columns(try status.facts(core)))
  }
}

extension PINStatus {
  fileprivate var modeWord: String { mode?.word ?? "unknown" }

  /// One line of a list.
  fileprivate var summary: String {
    let behind = "\(credentials.count) behind it"
    if isBlocked { return "\(behind), blocked" }
    guard let attemptsLeft else { return hasPendingChange ? "\(behind), change pending" : behind }
    return "\(behind), \(attemptsLeft) attempts left"
  }

  fileprivate func names(_ core: VaultCore) throws -> [String] {
    try credentials.map { try core.items(.id($0))[0] }.map { $0.name ?? $0.id.hexadecimal }
  }

  fileprivate func json(_ core: VaultCore) throws -> JSON {
    let names = try names(core)
    return .object {
      Field("name", name)
      Field("id", id.hexadecimal)
      Field("mode", modeWord)
      Field("limit", limit)
      Field("attemptsLeft", attemptsLeft)
      Field("blocked", isBlocked)
      Field("marked", isMarked)
      if mode == .camouflaged {
        Field("pending", hasPendingChange)
        Field("codesSinceConfirmation", codesSinceConfirmation)
      }
      Field("pinMode", factors.rawValue)
      Field("uses", uses)
      Field("credentials", .array(names.map { .string($0) }))
    }
  }

  fileprivate func facts(_ core: VaultCore) throws -> [[String]] {
    var rows = [["name", name], ["id", id.hexadecimal], ["mode", modeWord]]
    if let limit { rows.append(["limit", String(limit)]) }
    if let attemptsLeft { rows.append(["attempts left", String(attemptsLeft)]) }
    rows.append(["blocked", isBlocked ? "yes" : "no"])
    rows.append(["copied or restored", isMarked ? "yes: the next PIN needs the passcode" : "no"])
    if mode == .camouflaged {
      rows.append(["change pending", hasPendingChange ? "yes" : "no"])
      rows.append(["codes since confirmation", String(codesSinceConfirmation)])
    }
    rows.append([wording(ofKey: "pinMode"), factors.words])
    rows.append(["uses", String(uses)])
    rows += try names(core).map { ["credential", $0] }
    return rows
  }
}

extension PINFactors {
  /// What a code needs.
  var words: String {
    switch rawValue {
    case 1: "the PIN"
    case 2: "a new PIN"
    case 9: "the PIN or a biokey"
    default: "factors \(rawValue)"
    }
  }
}
