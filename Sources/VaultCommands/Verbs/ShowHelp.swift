import CommandLineKit
import TextFormats

/// `vaultctl help [WORD ...]`.
enum ShowHelp: VaultVerb {
  static let words = ["help"]
  static let summary = "Explain a command, or find one by what people call it."
  static let topic = Argument(
    "WORD", .text,
    "A command, a word of another program for one, or options, exit-codes, secrets or words; all commands if not given.",
    isRequired: false, takesRest: true)
  static let arguments = [topic]
  static let needs = VaultNeed.noVault
  static let runsIn = RunPlace.anywhere
  static let allowedInBatch = false
  static let notes = [
    "The words of a command show its page. Any other word is looked for among those that people use elsewhere, such as git or passwd, "
      + "and then in what the commands do.",
    "On a terminal, a page that is longer than the screen is shown by the command in PAGER, or by less. PAGER=cat shows none.",
    "With --json: text.",
  ]
  static let examples = ["vaultctl help get", "vaultctl help exit-codes"]

  static func run(_ command: Command) throws -> Outcome {
    let page = try Help(VerbTable.program).page(for: command.invocation.rest(topic))
    guard !command.isJSON else {
      return Outcome(json: .object { Field("text", Help(VerbTable.program).text(page)) })
    }
    let output = OutputStream(descriptor: command.world.standardOutput, name: "standard output")
    try VaultControl.show(page, on: output, in: command.world)
    return Outcome(json: nil)
  }
}
