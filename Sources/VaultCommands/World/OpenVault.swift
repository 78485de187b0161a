import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// The vault of one run: opened when it is first needed, unlocked when something needs that, at most once.
final class OpenVault {
  private let places: Places
  let secrets: Secrets
  /// What the options gave, for the commands of a batch too.
  let given = GivenSecrets()
  private let environment: VaultEnvironment
  private var core: VaultCore?
  /// Why unlocking failed: the commands of a batch do not try the same passcode again.
  private var refusal: (any Error)?
  private let prompt: CommandPrompt
  private let world: World
  private let messages: Messages
  /// Who is asked where an item has constraints: each use of one asks anew, or what was verified is kept for a while.
  private var asking: [Bool: AuthenticationContext] = [:]

  init(invocation: Invocation, world: World, messages: Messages) {
    self.messages = messages
    places = Places(invocation: invocation, world: world)
    secrets = Secrets(invocation: invocation, world: world, known: given)
    environment = places.world(world.vault)
    prompt = CommandPrompt(secrets: secrets)
    self.world = world
  }

  /// The vault, locked or not.
  ///
  /// - Parameter checkingRows: As of ``VaultCore/open(at:protector:checkingRows:environment:)``.
  func opened(checkingRows: Bool = true) throws -> VaultCore {
    if let core { return core }
    let core = try VaultCore.open(
      at: places.vault, protector: places.deviceKey.map { FileProtector(file: $0) },
      checkingRows: checkingRows, environment: environment)
    self.core = core
    if let rows = core.checkedAsCopy {
      messages.note("the vault file is a copy or an older state: all \(rows) rows were checked")
    }
    if core.keepsExpired {
      messages.note(
        "the clock is more than a day ahead of the last time that this vault saw, and no time service is known to set it: "
          + "items that have expired are not deleted")
    }
    resumeRotation(of: core)
    return core
  }

  /// Ends the use of the vault: its files are closed and its keys are wiped.
  func close() { core = nil }

  /// Runs `body`; when the vault turns out to be locked, unlocks it and runs `body` once more.
  ///
  /// What fails for being locked has changed nothing, so `body` may be run twice.
  func unlocking<R: ~Copyable>(_ body: (VaultCore) throws -> R) throws -> R {
    let core = try opened()
    do { return try body(core) } catch let error as VaultError where error.code == .locked {
      try unlock(core)
      return try body(core)
    } catch { throw prompt.takeFailure() ?? error }
  }

  /// Unlocks the vault where it is locked.
  ///
  /// - Returns: The passcode that did it.
  @discardableResult
  func unlock(_ core: VaultCore) throws -> ShownSecret? {
    guard !core.isUnlocked else { return nil }
    var unlocked: ShownSecret?
    try core.refuseShut()
    if let refusal { throw refusal }
    do {
      try judging(core) {
        try core.unlock(with: $0.passcode())
        unlocked = $0
      }
    } catch {
      refusal = error
      throw error
    }
    resumeRotation(of: core)
    return unlocked
  }

  /// Has the passcode judged: what was given once, what is typed three times at most.
  ///
  /// - Parameters:
  ///   - purpose: What happens with it, as the prompt says it; nil for unlocking.
  ///   - judge: Throws ``VaultError/Code/authenticationFailed`` for a wrong one.
  func judging<R>(_ core: VaultCore, to purpose: String? = nil, _ judge: (ShownSecret) throws -> R) throws
    -> R
  {
    try requireNoDelay(core)
    let isAsked = secrets.willAsk(.passcode)
    var left = isAsked ? min(Self.tries, try core.triesBeforeDelay()) : 1
    var problem: String?
    while true {
      let passcode = try secret(.passcode, of: .passcode, for: core) { secrets throws(CommandError) in
        try secrets.secret(.passcode, to: purpose, problem: problem, triesLeft: isAsked ? left : nil)
      }
      do { return try judge(passcode) } catch let error as VaultError
        where error.code == .authenticationFailed && error.retryAfter == nil && left > 1
      {
        problem = error.message
        left -= 1
      }
    }
  }

  /// Unlocks the vault before a person types what an item of this class is to hold: after a wrong passcode that would
  /// be lost. Data that does not come from a person can wait.
  ///
  /// - Returns: The passcode, where it was needed.
  @discardableResult
  func unlockBeforeTyping(_ access: AccessControl) throws -> ShownSecret? {
    let core = try opened()
    guard access.accessibility != .afterFirstUnlock, core.hasPasscode, secrets.asksForData else { return nil }
    return try unlock(core)
  }

  /// Who is asked before an item is used; `nil` where its rule asks nobody.
  func context(for item: Item) throws -> AuthenticationContext? {
    try context(for: item.access)
  }

  /// The same for an item that is about to be stored, or for one of many that are used together.
  ///
  /// - Parameter keeping: What was verified serves for five minutes, so that one command does not ask for each item.
  func context(for access: AccessControl, keeping: Bool = false) throws -> AuthenticationContext? {
    guard !access.constraints.isEmpty else { return nil }
    try endDelay(opened())
    if let asking = asking[keeping] { return asking }
    let context = try newContext(keeping: keeping)
    asking[keeping] = context
    return context
  }

  /// The same for the one use of an item before which the passcode was typed: it is not asked for twice.
  func context(for access: AccessControl, after passcode: ShownSecret?) throws -> AuthenticationContext? {
    guard let passcode, access.constraints.contains(.devicePasscode) else { return try context(for: access) }
    let context = try newContext(keeping: false)
    context.provide(try passcode.passcode())
    return context
  }

  private func newContext(keeping: Bool) throws -> AuthenticationContext {
    let mayPrompt = secrets.invocation.mayPrompt
    let hasFingers = try opened().enrolledMembers().contains { $0.source == .finger }
    return AuthenticationContext(
      reason: "", prompt: prompt, presence: mayPrompt ? world.presence : nil,
      biometry: hasFingers ? CommandReader(source: world.biometry, mayPrompt: mayPrompt) : nil,
      reuse: keeping ? .seconds(300) : .zero)
  }

  /// Moves one batch of a rotation that was interrupted. A full disk must not keep the vault from being read: the
  /// next opening tries again.
  private func resumeRotation(of core: VaultCore) {
    guard core.isRotating, core.isUnlocked else { return }
    try? core.resumeRotation()
  }

  /// Refuses while a delay after wrong passcodes lasts, before anybody is asked for one; a recovery code that was given
  /// ends it.
  func requireNoDelay(_ core: VaultCore) throws {
    try endDelay(core)
    try core.refuseDelay()
  }

  /// How often a person is asked for the passcode.
  private static let tries = 3

  /// A recovery code that was given ends the delay after wrong passcodes.
  func endDelay(_ core: VaultCore) throws {
    guard let code = try secrets.given(.recovery) else { return }
    try core.endDelay(with: RecoveryCode(text: code))
  }

  /// Unlocking and reading in one step.
  func read<R>(_ body: (inout ReadTransaction) throws -> R) throws -> R {
    try unlocking { try $0.read(body) }
  }

  /// Unlocking and writing in one step; durable when it returns.
  func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try unlocking { try $0.write(body) }
  }
}
