import AuthenticatorKit
import CommandLineKit
import VaultKit

/// The PIN that a new credential is put behind, as `--pin-mode` and `--pin` say.
struct NewGuard {
  private let command: Command
  private let access: AccessControl
  /// The PIN item; nil where there is none yet, or none is wanted.
  private let item: Item?
  /// The item to make first.
  private let new: NewPINItem?
  private let mode: PINMode?

  init(_ command: Command, access: AccessControl) throws {
    (self.command, self.access) = (command, access)
    var (item, new, mode): (Item?, NewPINItem?, PINMode?)
    if let name = command[PINOptions.guardItem] {
      guard command[PINOptions.guardMode] == nil else {
        throw CommandError.usage(
          "--pin and --pin-mode contradict each other", hint: "--pin names the item itself")
      }
      item = try command.pinItem(named: name)
      mode = try command.pinStatus(of: item!.id).mode
    } else if case .mode(let wanted)? = command[PINOptions.guardMode] {
      var candidate = NewPINItem(wanted)
      candidate.access = AccessControl(access.accessibility, thisDeviceOnly: access.thisDeviceOnly)
      mode = wanted
      do { item = try command.vault.opened().item(named: candidate.name) } catch let error as VaultError
        where error.code == .itemNotFound
      { new = candidate }
      if item != nil { item = try command.pinItem(named: candidate.name) }
    } else if command.has(SecretChannel.pin.options.descriptor) || command.has(SecretChannel.pin.options.file)
    {
      throw CommandError.usage("a PIN is given, but neither --pin-mode nor --pin")
    }
    (self.item, self.new, self.mode) = (item, new, mode)
  }

  /// Adds the credential behind the PIN, and makes the PIN item first where it is missing. If the credential cannot be
  /// added, no new PIN item stays.
  func adding<R>(
    named name: String, _ add: (VaultCore, ItemID?, AuthenticationContext?) throws -> R
  ) throws -> R {
    guard mode != nil else {
      let context = try command.vault.context(for: access)
      return try command.vault.unlocking { try add($0, nil, context) }
    }
    let context = try command.vault.pinContext()
    let added = try command.vault.unlocking { core in
      if let item { return try add(core, item.id, context) }
      return try make(in: core, named: name, context: context) { try add(core, $0, context) }
    }
    if mode == .camouflaged {
      command.messages.note(
        "nothing here can check this PIN: with a wrong one, the server refuses the codes; never store this secret a "
          + "second time")
    }
    return added
  }

  private func make<R>(
    in core: VaultCore, named name: String, context: AuthenticationContext, _ add: (ItemID) throws -> R
  ) throws -> R {
    // A name that is taken is the usual reason why a credential cannot be added; it is found before a PIN is asked for.
    if (try? core.item(named: name)) != nil {
      throw VaultError(.duplicateItem, "an item with that name exists already")
    }
    let pin = try core.makePIN(new!, context: context)
    do { return try add(pin.id) } catch {
      try? core.delete(pin.id)
      throw error
    }
  }
}
