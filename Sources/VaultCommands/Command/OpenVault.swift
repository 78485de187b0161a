import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// The vault of one run. It is opened when it is first needed, and unlocked at most once, when an operation needs
/// that.
final class OpenVault {
  private let places: Places
  let secrets: Secrets
  /// The secrets that the options gave. All commands of a batch share them.
  let given = GivenSecrets()
  let environment: VaultEnvironment
  let commitStep: CommitStep
  let unlockStep = UnlockStep()
  private var core: VaultCore?
  /// Why unlocking failed, so that the commands of a batch do not try the same passcode again.
  var refusal: (any Error)?
  /// Whether what was given to unlock the vault was judged.
  var hasJudged = false
  /// Whether a person is asked for the passcode that unlocks the vault.
  var isAskingToUnlock = false
  let prompt: CommandPrompt
  private var hasWarnedOfClock = false
  /// What ``sayOnce(_:)`` has said.
  private var said: Set<String> = []
  let world: World
  private let messages: Messages
  /// The contexts that verify a person for items with constraints. The key says whether a verification is kept for a
  /// while; otherwise each use of an item asks again.
  private var contexts: [Bool: AuthenticationContext] = [:]

  init(invocation: Invocation, world: World, messages: Messages) {
    self.messages = messages
    places = Places(invocation: invocation, world: world)
    secrets = Secrets(invocation: invocation, command: invocation, world: world, known: given)
    var environment = places.world(world.vault)
    let commitStep = CommitStep(world.interruption)
    environment.committing = commitStep.run
    environment.unlocking = unlockStep.run
    self.commitStep = commitStep
    self.environment = environment
    prompt = CommandPrompt(secrets: secrets)
    self.world = world
  }

  /// The vault, locked or not.
  ///
  /// - Parameter checkingRows: As of ``VaultCore/open(at:protector:checkingRows:environment:)``.
  func opened(checkingRows: Bool = true) throws -> VaultCore {
    if let core { return core }
    let path = try places.vault
    let (core, isNew) =
      try shared(path, deviceKey: places.deviceKey, opening: open(_:checkingRows:environment:))
      ?? (open(path, checkingRows: checkingRows, environment: environment), true)
    self.core = core
    if isNew { warnOfOpening(core) }
    warnOfDoubt(core)
    try judgeGiven(core)
    return core
  }

  private func open(
    _ path: String, checkingRows: Bool = true, environment: VaultEnvironment
  ) throws -> VaultCore {
    try world.interruption.meeting(.ignored) {
      let core = try VaultCore.open(
        at: path, protector: places.deviceKey.map { FileProtector(file: $0) },
        checkingRows: checkingRows, environment: environment)
      resumeRotation(of: core)
      return core
    }
  }

  /// Says what was found when the vault was opened.
  private func warnOfOpening(_ core: VaultCore) {
    if let rows = core.checkedAsCopy {
      messages.warn("the vault file is a copy or an older state: all \(rows) rows were checked", mark: "")
    }
    if let commit = core.missingCommit {
      messages.warn(
        "commit \(commit), which was made on this machine, is not in the vault file: an older state was put back, or the file "
          + "went on elsewhere without it; 'vaultctl vault doctor' explains", mark: "")
    }
    if core.ignoresWitness {
      messages.warn(
        "what is remembered beside the device key (KEY.seen) cannot be true of this vault: it was ignored, and the next change "
          + "of the vault replaces it", mark: "")
    }
  }

  private func warnOfDoubt(_ core: VaultCore) {
    switch core.clockDoubt {
    case .isAhead:
      messages.warn(
        "the clock is ahead of the recorded time: what it would delete for having expired is kept; see 'vaultctl vault clock'",
        mark: "")
    case .isBehind:
      messages.warn(
        "the clock is behind the recorded time, by which items expire; see 'vaultctl vault clock'", mark: "")
    case nil: break
    }
  }

  /// Says something that a command finds out again each time it looks its item up.
  func sayOnce(_ text: String) { if said.insert(text).inserted { messages.note(text) } }

  /// Whether the clock says a time before this program was made.
  var isClockImpossible: Bool { environment.clock.now().seconds < Version.madeAfter }

  /// Says that the last commit is remembered nowhere beside the vault.
  func warnOfWitness() {
    guard let core, !core.remembersCommit, !core.takesForKnown() else { return }
    messages.warn(
      "this change could not be remembered outside of the vault file (KEY.seen): if an older state of the vault is put back, nothing "
        + "will tell; 'vaultctl vault doctor' explains", mark: "")
  }

  /// Says once that the clock cannot be right.
  func warnOfClock() {
    guard isClockImpossible, !hasWarnedOfClock else { return }
    hasWarnedOfClock = true
    messages.warn(
      "the clock says \(Instants.text(seconds: environment.clock.now().seconds)), before this program was made: what expires and "
        + "codes that follow the time are wrong until it is set", mark: "")
  }

  /// The moment that was typed, for an item that expires.
  ///
  /// - Throws: exit 2 for one that is not to come; exit 7 where the recorded time is that far ahead: the item would have expired at
  ///   once.
  func expiry(at moment: TypedMoment, in core: VaultCore) throws -> Instant {
    let now = core.environment.clock.now()
    guard let milliseconds = moment.milliseconds(after: now.milliseconds) else {
      throw CommandError.usage("--expires is after the year 9999")
    }
    let expiry = Instant(milliseconds: milliseconds)
    guard expiry > now else {
      throw CommandError.usage(
        "--expires is \(Instants.shown(seconds: expiry.seconds)), which is over: it is \(Instants.shown(seconds: now.seconds))",
        hint: "give a moment to come; a number alone is seconds since 1970, and 60 seconds from now are 60s")
    }
    let recorded = try core.expiryTime()
    guard expiry > recorded else {
      throw CommandError(
        .expired,
        "the item would have expired at once: the recorded time of the vault is "
          + "\(Instants.text(seconds: recorded.seconds)), after the clock",
        hint:
          "see 'vaultctl vault clock'; if the clock is right, set the recorded time back with 'vaultctl vault clock --reset'"
      )
    }
    return expiry
  }

  /// Closes the files of the vault and wipes its keys. A vault of the agent stays as it is.
  func close() { core = nil }

  /// What was committed since this was asked last.
  func takeDone() -> DoneOperations { core?.takeDone() ?? DoneOperations() }

  /// Runs `body`. The vault is unlocked at the first thing in it that needs that, before anything is changed for this thing.
  ///
  /// - Parameter use: What `body` needs besides, where it does not find this out itself.
  func unlocking<R: ~Copyable>(for use: Use = .free, _ body: (VaultCore) throws -> R) throws -> R {
    let core = try opened()
    var failure: (any Error)?
    // The vault calls this on the thread of `body`, before `body` returns.
    nonisolated(unsafe) let unlock = {
      do { try self.unlock(core) } catch { failure = error }
      return failure == nil
    }
    do {
      return try using(core) {
        try unlockStep.during({ unsafe unlock() }) {
          if case .free = use {} else { try core.beginReading(use, context: nil).end() }
          return try body(core)
        }
      }
    } catch { throw prompt.takeFailure() ?? failure ?? error }
  }

  /// Runs `body`, which makes the secret of a new file valid. The file is on the disk directly before the commit.
  func making<R>(_ file: NewSecretFile, _ body: () throws -> R) throws -> R {
    do { return try commitStep.before({ () throws(VaultError) in try file.write() }, body) } catch {
      throw file.failure(else: error)
    }
  }

  /// Unlocks the vault if it is locked.
  ///
  /// - Returns: The passcode that unlocked it.
  @discardableResult
  func unlock(_ core: VaultCore) throws -> ShownSecret? {
    guard try !core.findsUnlocked() else {
      try judgeGiven(core)
      return nil
    }
    try core.refuseShut()
    if let refusal { throw refusal }
    guard beginAsking(core) else {
      try judgeGiven(core)
      return nil
    }
    defer { endAsking() }
    let unlocked: ShownSecret
    do { unlocked = try checkedPasscode(of: core).shown } catch {
      if isAnswered(error, core) { return nil }
      refusal = error
      throw error
    }
    hasJudged = true
    noteUnlocked(core)
    world.vaults?.provedPasscode(core)
    world.interruption.meeting(.ignored) { resumeRotation(of: core) }
    return unlocked
  }

  /// Verifies the passcode, and unlocks the vault with it. A given passcode is tried once; a person may type it three times at most.
  ///
  /// The commits of this decide nothing about signals. So what is done with the passcode comes after it, never inside it.
  ///
  /// - Parameter purpose: The use of the passcode, as the prompt states it; nil for unlocking.
  func checkedPasscode(
    of core: VaultCore, to purpose: String? = nil
  ) throws -> (shown: ShownSecret, checked: CheckedPasscode) {
    try verifiedPasscode(of: core, to: purpose) { try core.checked($0.passcode()) }
  }

  /// The same with another way to verify, which changes nothing else.
  ///
  /// - Parameter verify: Throws ``VaultError/Code/authenticationFailed`` for a wrong passcode.
  func verifiedPasscode<Verdict>(
    of core: VaultCore, to purpose: String? = nil, by verify: (ShownSecret) throws -> Verdict
  ) throws -> (shown: ShownSecret, checked: Verdict) {
    try requireNoDelay(core)
    let isAsked = secrets.willAsk(.passcode)
    var left = isAsked ? min(Self.tries, try core.triesBeforeDelay()) : 1
    var problem: String?
    while true {
      let passcode = try secret(.passcode, of: .passcode, for: core) { secrets throws(CommandError) in
        try secrets.secret(.passcode, to: purpose, problem: problem, triesLeft: isAsked ? left : nil)
      }
      do {
        return (passcode, try world.interruption.meeting(.ignored) { try verify(passcode) })
      } catch let error as VaultError
        where error.code == .authenticationFailed && error.retryAfter == nil && left > 1
      {
        problem = error.message
        left -= 1
      }
    }
  }

  /// Unlocks the vault before a person types the contents of an item of this class, because a wrong passcode
  /// afterwards would discard the typed text. Data that does not come from a person can wait.
  ///
  /// - Parameter isTyped: Whether a person types it; `nil` for the data of standard input.
  /// - Returns: The passcode, if it was needed.
  @discardableResult
  func unlockBeforeTyping(_ access: AccessControl, isTyped: Bool? = nil) throws -> ShownSecret? {
    let core = try opened()
    guard access.accessibility != .afterFirstUnlock, core.hasPasscode, isTyped ?? secrets.asksForData
    else { return nil }
    return try unlock(core)
  }

  /// The context that verifies the person before an item is used; `nil` if nothing but the unlocked vault is needed.
  func context(for item: Item) throws -> AuthenticationContext? {
    try context(for: item.access, isBehindPIN: item.isBehindPIN)
  }

  /// The context that asks for PINs.
  func pinContext() throws -> AuthenticationContext { try context(for: AccessControl(), isBehindPIN: true)! }

  /// The same for an item that is about to be stored, or for one of many that are used together.
  ///
  /// - Parameter keeping: A verification remains valid for five minutes, so that one command does not ask again for
  ///   each item.
  func context(
    for access: AccessControl, isBehindPIN: Bool = false, keeping: Bool = false
  ) throws -> AuthenticationContext? {
    guard !access.constraints.isEmpty || isBehindPIN else { return nil }
    try endDelay(opened())
    if let context = contexts[keeping] { return context }
    let context = try newContext(keeping: keeping)
    contexts[keeping] = context
    return context
  }

  /// The same for one use of an item, with a passcode that was typed before, so that the person is not asked for it
  /// twice.
  func context(for item: Item, after passcode: ShownSecret?) throws -> AuthenticationContext? {
    guard let passcode, item.access.constraints.contains(.devicePasscode) else {
      return try context(for: item)
    }
    let context = try newContext(keeping: false)
    context.provide(try passcode.passcode())
    return context
  }

  private func newContext(keeping: Bool) throws -> AuthenticationContext {
    let mayPrompt = secrets.invocation.mayPrompt
    let hasFingers = try opened().enrolledMembers().contains { $0.source == .finger }
    var context = AuthenticationContext(
      reason: secrets.reason ?? "", prompt: prompt, presence: mayPrompt ? world.host.presence : nil,
      biometry: hasFingers ? CommandReader(source: world.host.biometry, mayPrompt: mayPrompt) : nil,
      reuse: keeping ? .seconds(300) : .zero)
    context.grants = try world.vaults?.grants(of: opened())
    return context
  }

  /// Moves one batch of a rotation that was interrupted. A full disk must not prevent reading the vault. The next
  /// opening tries again.
  private func resumeRotation(of core: VaultCore) {
    guard core.isRotating, core.isUnlocked else { return }
    try? core.resumeRotation()
  }

  /// Throws during a delay after wrong passcodes, before a prompt for a passcode. A given recovery code ends the
  /// delay.
  func requireNoDelay(_ core: VaultCore) throws {
    try endDelay(core)
    try core.refuseDelay()
  }

  /// How many times a person is asked for the passcode.
  private static let tries = 3

  /// Ends the delay after wrong passcodes if a recovery code was given. As with a passcode, its commit decides nothing about signals.
  func endDelay(_ core: VaultCore) throws {
    guard let text = try secrets.given(.recovery) else { return }
    let code = try RecoveryCode(text: text)
    try world.interruption.meeting(.ignored) { try core.endDelay(with: code) }
  }

  /// Changes the vault, and unlocks it for a use. The changes are durable when this returns.
  func write<R>(for use: Use, _ body: (inout WriteTransaction) throws -> R) throws -> R {
    try unlocking(for: use) { try $0.write(body) }
  }
}
