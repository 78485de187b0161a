import AuthenticatorKit
import CommandLineKit
import VaultKit

/// The PIN that a new credential is put behind, as `--pin-mode` and `--pin` say.
enum NewGuard {
  case none
  case pin(Item, isCamouflaged: Bool)
  /// The default item of a mode, which does not exist yet.
  case new(NewPINItem)

  /// Gives the PIN item that is about to be made an unlock key, which a server keeps.
  ///
  /// - Returns: The key; `nil` if no checked PIN is made.
  mutating func givingUnlockKey() throws(VaultError) -> PINUnlockKey? {
    guard case .new(var new) = self, new.mode == .checked else { return nil }
    let key = try PINUnlockKey.fresh()
    new.unlockKey = key
    self = .new(new)
    return key
  }

  /// - Parameter access: That of the credential. A PIN item that is made for it has the same accessibility.
  init(_ command: Command, access: AccessControl) throws {
    if let name = command[PINOptions.guardItem] {
      guard command[PINOptions.guardMode] == nil else {
        throw CommandError.usage(
          "--pin and --pin-mode contradict each other", hint: "--pin names the item itself")
      }
      self = try .pin(command, named: name)
    } else if case .mode(let mode)? = command[PINOptions.guardMode] {
      var new = NewPINItem(mode)
      new.access = AccessControl(access.accessibility, thisDeviceOnly: access.thisDeviceOnly)
      let isMade = try Self.isTaken(new.name, in: command.vault.opened())
      self = isMade ? try .pin(command, named: new.name) : .new(new)
    } else {
      guard SecretChannel.pin.option(in: command.invocation) == nil else {
        throw CommandError.usage("a PIN is given, but neither --pin-mode nor --pin")
      }
      self = .none
    }
  }

  private static func pin(_ command: Command, named name: String) throws -> NewGuard {
    let item = try command.pinItem(named: name)
    return .pin(item, isCamouflaged: try command.pinStatus(of: item.id).mode == .camouflaged)
  }

  /// Nothing in the vault can tell whether its PIN is right.
  private var isCamouflaged: Bool {
    switch self {
    case .none: false
    case .pin(_, let isCamouflaged): isCamouflaged
    case .new(let new): new.mode == .camouflaged
    }
  }

  /// Adds the credential behind the PIN, and makes the PIN item first where it is missing. If the credential cannot be
  /// added, no new PIN item stays.
  ///
  /// - Parameter name: The name that the credential needs.
  func adding<R>(
    _ name: String, _ access: AccessControl, in command: Command,
    _ add: (VaultCore, ItemID?, AuthenticationContext?) throws -> R
  ) throws -> R {
    if case .none = self {
      let context = try command.vault.context(for: access)
      return try command.vault.unlocking { try add($0, nil, context) }
    }
    let context = try command.vault.pinContext()
    let added = try command.vault.unlocking { core in
      switch self {
      case .none: try add(core, nil, context)
      case .pin(let item, _): try add(core, item.id, context)
      case .new(let new):
        try making(new, for: name, in: core, context: context) { try add(core, $0, context) }
      }
    }
    noteCamouflage(command)
    return added
  }

  /// Finishes an activation behind the PIN. A PIN item that is missing is made in the commit of the credential, because the
  /// server is asked before.
  func finishing<R>(
    _ access: AccessControl, in command: Command,
    _ finish: (VaultCore, ChosenPIN?, AuthenticationContext) throws -> R
  ) throws -> R {
    let context = try command.vault.pinContext()
    let finished = try command.vault.unlocking { core in
      switch self {
      case .none: try finish(core, nil, command.vault.context(for: access) ?? context)
      case .pin(let item, _): try finish(core, .stored(item.id), context)
      case .new(let new): try finish(core, .new(new), context)
      }
    }
    noteCamouflage(command)
    return finished
  }

  private func noteCamouflage(_ command: Command) {
    guard isCamouflaged else { return }
    command.messages.note(
      "nothing here can check this PIN: with a wrong one, the server refuses the codes; never store this secret a "
        + "second time")
  }

  private func making<R>(
    _ new: NewPINItem, for name: String, in core: VaultCore, context: AuthenticationContext,
    _ add: (ItemID) throws -> R
  ) throws -> R {
    // The usual reason why a credential cannot be added; it is found before a PIN is asked for.
    if try Self.isTaken(name, in: core) {
      throw VaultError(.duplicateItem, "an item with that name exists already")
    }
    let pin = try core.makePIN(new, context: context)
    do { return try add(pin.id) } catch {
      try? core.delete(pin.id)
      throw error
    }
  }

  private static func isTaken(_ name: String, in core: VaultCore) throws(VaultError) -> Bool {
    do throws(VaultError) { _ = try core.item(named: name) } catch {
      guard error.code == .itemNotFound else { throw error }
      return false
    }
    return true
  }
}
