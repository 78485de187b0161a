package import CommandLineKit
import VaultWords

/// One verb of `vaultctl`, in one file: its declaration, its options with their types, and what it does.
///
/// The declaration says what the verb needs. The options, facts and exit codes that follow from that are added here.
package protocol VaultVerb: Verb {
  /// What can be given in place of NAME.
  static var target: Target { get }
  /// The options of this verb alone, in the order of the help.
  static var ownOptions: [any OptionKey] { get }
  /// The secrets that it takes, besides those that unlock the vault.
  static var channels: [SecretChannel] { get }
  static var needs: VaultNeed { get }
  /// When a verb that needs only the vault needs its passcode too, as the end of a sentence; `nil` for never.
  static var passcodeCase: String? { get }
  /// Asks by the flags of the item (`--access`), not only for the passcode.
  static var asksByFlags: Bool { get }
  /// What a prompt asks for, where the other members do not say it; `nil` if they do.
  static var asks: String? { get }
  static var audited: Audited { get }
  static var ownExits: [ExitCode] { get }
  static var allowedInBatch: Bool { get }
  /// Changes files although the verb itself is not audited: a batch runs other verbs, the doctor removes old keys.
  static var changesFiles: Bool { get }
  /// Without this option and without a terminal, the verb changes no file.
  static var changingOption: Flag? { get }
  /// What a signal does to a verb that is not read-only.
  static var commitSignals: CommitSignals { get }
  /// Whether a clock that cannot be right is worth a warning.
  static var usesClock: Bool { get }
  /// Where it runs if there is an agent.
  static var runsIn: RunPlace { get }
  /// In a keeper, whether the passcode or the recovery code must come with this very command line, also while the vault is unlocked: what it
  /// does takes secrets or rules out of the keeper.
  static func needsPerson(_ invocation: Invocation) -> Bool
  /// Whether a piece of a name serves, at a terminal and where one item has it. Only of a verb that prints: none that changes an item guesses
  /// which one is meant.
  static var takesPieceOfName: Bool { get }
  /// Whether this invocation changes no vault, key or other file. Entries in the audit about reading do not count.
  static func isReadOnly(_ invocation: Invocation) -> Bool

  static func run(_ command: Command) throws -> Outcome
}

extension VaultVerb {
  package static var target: Target { .none }
  package static var ownOptions: [any OptionKey] { [] }
  package static var channels: [SecretChannel] { [] }
  package static var needs: VaultNeed { .vault }
  package static var passcodeCase: String? { nil }
  package static var asksByFlags: Bool { false }
  package static var asks: String? { nil }
  package static var audited: Audited { .never }
  package static var ownExits: [ExitCode] { [] }
  package static var allowedInBatch: Bool { true }
  package static var changesFiles: Bool { false }
  package static var changingOption: Flag? { nil }
  package static var commitSignals: CommitSignals { .held }
  package static var usesClock: Bool { needs != .noVault }
  package static var runsIn: RunPlace { .agent }
  package static func needsPerson(_ invocation: Invocation) -> Bool { false }
  package static var takesPieceOfName: Bool { false }
}

extension Invocation {
  /// The verb, which the parser took from a table of verbs of this tool.
  var vaultVerb: any VaultVerb.Type {
    guard let verb = verb as? any VaultVerb.Type else {
      preconditionFailure("Invocation.vaultVerb: a verb of another tool")
    }
    return verb
  }
}

// MARK: What follows from the declaration

extension VaultVerb {
  package static var options: [Option] {
    (ownOptions + target.options + (asksPerson ? [CommonOptions.reason] : [])
      + secretOptions.flatMap(\.options)).map(\.option)
  }

  package static var standIns: [StandIn] { target.standIns }

  package static var secretOptions: [SecretOptions] { allChannels.map(\.options) }

  static var allChannels: [SecretChannel] {
    let unlocking: [SecretChannel] = needs == .unlocked ? [.passcode, .recovery] : []
    return unlocking + channels.filter { !unlocking.contains($0) }
  }

  /// Whether it can change a vault, a device key or another file. The torture tests cover each such verb.
  package static var writes: Bool { audited != .never || changesFiles }

  package static func isReadOnly(_ invocation: Invocation) -> Bool { changesNothing(invocation) }

  /// ``isReadOnly(_:)`` as the declaration says it.
  static func changesNothing(_ invocation: Invocation) -> Bool {
    guard audited != .always else { return false }
    return !changesFiles || changingOption.map { !invocation[$0] } ?? false
  }

  package static var exitCodes: [ExitCode] {
    var codes: Set<ExitCode> = [.done, .usage, .io, .interrupted]
    if needs != .noVault { codes.formUnion([.refused, .damaged, .deviceKey, .noVault, .unsupported]) }
    if allChannels.contains(where: \.isAskedFor) {
      codes.formUnion([.authenticationFailed, .blocked, .cancelled, .interactionNotAllowed, .malformed])
    } else if !channels.isEmpty {
      codes.formUnion([.interactionNotAllowed, .malformed])
    }
    if target != .none { codes.formUnion([.notFound, .malformed]) }
    if readsStandardInput { codes.formUnion([.malformed, .cancelled, .interactionNotAllowed]) }
    if ownOptions.contains(where: { $0.name == TransportOptions.program.name }) {
      codes.formUnion(TransportOptions.exits)
    }
    return codes.union(ownExits).sorted()
  }

  package static var namesCommand: String? {
    guard target != .none else { return nil }
    return NamesCommand.text(kind: ItemFamily(of: self)?.kind.word)
  }

  package static func check(_ invocation: Invocation) throws(CommandError) {
    for option in [CommonOptions.logLevel, CommonOptions.logUnmasked] as [any OptionKey]
    where invocation.has(option) && !invocation.has(CommonOptions.log) {
      throw .usage("\(option.shown) needs --log beside it", hint: "name what is logged: --log AUTH,VAULT")
    }
    guard invocation[CommonOptions.noInput], let prompt = invocation[CommonOptions.prompt], prompt != .none
    else { return }
    throw .usage("--no-input and --prompt \(prompt.rawValue) contradict each other")
  }
}

// MARK: Facts of the help

extension VaultVerb {
  package static var facts: [(name: String, text: String)] {
    [
      ("reads stdin", standardInput.explanation), ("vault", vaultFact), ("asks", askFact),
      ("audited", auditFact),
    ]
  }

  private static var vaultFact: String {
    switch needs {
    case .noVault: "needs no vault"
    case .vault:
      passcodeCase.map { "needs the vault; its passcode only \($0)" } ?? "needs the vault, not its passcode"
    case .unlocked: "needs the vault unlocked, where a passcode is set and guards what is used"
    }
  }

  private static var askFact: String {
    if let asks { return asks }
    if asksByFlags {
      return "for the passcode where it is needed, and for what the item's --access flags name"
    }
    guard allChannels.contains(where: \.isAskedFor) else {
      return readsStandardInput ? "only for standard input, on a terminal" : nothing
    }
    let unasked = channels.filter { !$0.isAskedFor }.map { "; never for the \($0.title)" }
    return "for the secrets that it needs and that are not given" + unasked.joined()
  }

  private static var nothing: String { "nothing" }
  private static var asksPerson: Bool { askFact != nothing }

  private static var auditFact: String {
    let opening = needs == .noVault ? "" : "; opening the vault ends what is due, which is audited"
    return switch audited {
    case .never: "no" + opening
    case .always: "yes"
    case .onRequest: "only for items made with --audit all" + opening
    }
  }
}
