package import AgentMessages
import CommandLineKit
import Glibc
import SecretMemory
package import VaultKit
import VaultWords

/// The keeper's side of a move of the vault, into the keeper or out of it.
///
/// A second file of the vault is made, under a device key of the other side, and a note is written. Then the person's side does the one
/// step that decides: it renames its file, or gives the new one its name. After that the keeper follows, and the note goes. If
/// either process ends in between, the next command of the person says where the vault is. It says so by a file that is there, never
/// by one that is missing.
package struct KeeperMove {
  private let place: KeeperPlace
  /// nil where root decides.
  private let link: ClientLink?
  private let environment: VaultEnvironment

  package init(in place: KeeperPlace, with link: ClientLink?, environment: VaultEnvironment) {
    (self.place, self.link, self.environment) = (place, link, environment)
  }

  /// Whether a vault can be on its way. Looks at a name alone.
  package static func isUnsettled(in place: KeeperPlace) -> Bool { MoveNote.isThere(in: place) }

  private var keys: FileProtector { FileProtector(in: StandardDirectory(at: place.keys)) }
  /// The file that is not the vault, or not yet.
  private var draft: String { place.moving + "/default.vault" }

  private func ask<Value>(
    _ kind: AgentCall.Kind, _ content: CallContent = CallContent(),
    reading read: (RemoteAnswer) throws(AgentMessageError) -> Value
  ) throws -> Value {
    guard let link else { throw CommandError(.io, "there is no command to ask") }
    return try link.ask(kind, content, reading: read)
  }
}

// MARK: Into the keeper

extension KeeperMove {
  /// - Throws: Exit 8 if the keeper has a vault; exit 14 if that is still in the directory of the former name.
  func refuseVault() throws(CommandError) {
    do throws(VaultError) { _ = try VaultPath.unnamed(in: StandardDirectory(at: place.vaults)) } catch {
      throw CommandError(error)
    }
    guard try FilePlace.exists(place.vault) else { return }
    throw CommandError(
      .alreadyExists, "the keeper has a vault already",
      hint: "'vaultctl keeper leave PATH' moves it out first", code: VaultError.Code.vaultExists.rawValue)
  }

  /// Takes the vault of the person.
  ///
  /// - Parameter interruption: That of the command: a signal before the person's side lets go leaves everything as it was.
  /// - Throws: After an error the vault is on the side that the next command finds.
  func adopt(interruption: Interruption) throws -> MoveNote {
    try refuseVault()
    try prepare()
    let given = try receive()
    do {
      let note = try MoveNote(
        .intoKeeper, path: given.path, keyPlace: given.keyPlace, vault: given.copy.vault, key: given.key)
      try note.write(in: place)
      try interruption.hold()
      try ask(.letGo) { _ in }
      try settle(note, isPersons: false)
      return note
    } catch {
      try? settle()
      throw error
    }
  }

  /// Makes the draft of what the person's side gives. Its file is closed when this returns: the lock on it ends with the person's side.
  private func receive() throws -> (path: String, keyPlace: String, key: DeviceKeyID, copy: VaultOutline) {
    let given = try ask(.giveVault) { answer throws(AgentMessageError) in
      let places = try answer.content.list(.list)
      guard places.count == 2 else { throw .wrongLength }
      return (
        path: places[0], keyPlace: places[1], key: try answer.content.secret(.secret),
        file: answer.descriptors
      )
    }
    let key = try CarriedKey(given.key)
    guard let id = key.carried?.id else { preconditionFailure("KeeperMove.receive: a key without an id") }
    let copy = try given.file.lend { descriptors throws(VaultError) in
      try VaultMove.copy(
        from: descriptors.first ?? -1, keptBy: key, to: draft, protector: keys, environment: environment)
    }
    return (given.path, given.keyPlace, id, copy)
  }
}

// MARK: Out of the keeper

extension KeeperMove {
  /// Gives the vault to the person. No other request has it.
  ///
  /// - Throws: As ``adopt(interruption:)``; exit 14 if the keeper has no vault.
  func leave(interruption: Interruption) throws -> MoveNote {
    try prepare()
    let source = try VaultMove.Source(of: place.vault)
    // The draft is another file: what is remembered beside the key is about the vault.
    let old = try CarriedKey(DeviceKeys(keys, of: source.outline.vault).load(source.outline.deviceKey))
    let carried = CarriedKey()
    let outline = try source.lend { descriptor throws(VaultError) in
      try VaultMove.copy(
        from: descriptor, keptBy: old, to: draft, protector: carried, goesOn: true, environment: environment)
    }
    guard let key = carried.carried else { preconditionFailure("KeeperMove.leave: no new device key") }
    var content = CallContent()
    content.set(.secret, key.bytes)
    content.set(.vaultMoved, outline.vault.hexadecimal)
    let places = try ask(.takeKey, content) { answer throws(AgentMessageError) in
      let places = try answer.content.list(.list)
      guard places.count == 2 else { throw .wrongLength }
      return places
    }
    do {
      let note = try MoveNote(
        .outOfKeeper, path: places[0], keyPlace: places[1], vault: outline.vault, key: key.id)
      try note.write(in: place)
      try give(to: note.path, interruption: interruption)
      try settle(note, isPersons: true, held: source.outline)
      source.keep()
      return note
    } catch {
      try? settle(held: source.outline)
      source.keep()
      throw error
    }
  }

  /// Writes the person's file. It gets its name as the last step.
  private func give(to path: String, interruption: Interruption) throws {
    guard let link else { return }
    let file = try RemoteHost(link).makeFile(path, interruption: interruption)
    let descriptor = unsafe open(draft, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandError.io("opening \(draft)", errno: errno) }
    defer { close(descriptor) }
    try VaultMove.copy(from: descriptor, to: file.descriptor, at: path)
    try file.finish()
  }
}

// MARK: Which side has the vault

extension KeeperMove {
  /// Ends a move that was interrupted: asks the process of the command where the vault is. Does nothing if there is none.
  ///
  /// - Throws: If it cannot be found out, or the disk does not do it. The note stays.
  package func settle() throws { try settle(held: nil) }

  /// - Parameter held: The vault of the keeper, which the caller keeps others from opening; nil if it does not.
  private func settle(held: VaultOutline?) throws {
    guard let note = try MoveNote.read(in: place) else { return }
    // Without a draft the keeper has followed already, and was killed before it removed the note.
    guard try FilePlace.exists(draft) else { return try forget(note) }
    let isPersons = try ask(.isVaultThere, note.content) { answer throws(AgentMessageError) in
      try answer.content.flag(.isTrue)
    }
    try settle(note, isPersons: isPersons, held: held)
  }

  /// Ends a move as root decides.
  ///
  /// - Returns: The note; nil if no vault is on its way.
  func decide(isPersons: Bool) throws -> MoveNote? {
    guard let note = try MoveNote.read(in: place) else { return nil }
    try settle(note, isPersons: isPersons, held: nil)
    return note
  }

  /// Follows the person's side. Each step can be done again.
  ///
  /// - Parameter isPersons: Whether the person's side has the vault.
  private func settle(_ note: MoveNote, isPersons: Bool, held: VaultOutline? = nil) throws {
    switch (note.direction, isPersons) {
    case (.intoKeeper, false): try takePlace()
    // The person's side may have said so wrongly, and then this is the only one.
    case (.intoKeeper, true):
      if try FilePlace.exists(draft) { try setAside(draft, VaultCore.outline(at: draft)) }
    case (.outOfKeeper, true):
      if let held { try setAside(place.vault, held) } else { try setAsideUnused() }
    case (.outOfKeeper, false): break
    }
    try removeDraft()
    try forget(note)
  }

  private func takePlace() throws {
    guard try FilePlace.exists(draft) else { return }
    guard try !FilePlace.exists(place.vault) else {
      throw CommandError(
        .io,
        "the keeper has two vaults: \(draft), which the person moved here, and \(place.vault), which was made meanwhile",
        hint: "have an administrator move the second one away, and keep both", code: "keeperTwoVaults")
    }
    try FileProtector.makeFolders(above: place.vault)
    try VaultNames.move(draft, to: place.vault)
  }

  private func setAsideUnused() throws {
    guard try FilePlace.exists(place.vault) else { return }
    let source = try VaultMove.Source(of: place.vault)
    try setAside(place.vault, source.outline)
    source.keep()
  }

  /// Sets a vault and its device key aside, for root: nothing opens them there.
  private func setAside(_ path: String, _ outline: VaultOutline) throws {
    let folder = place.left + "/" + outline.deviceKey.hexadecimal
    let key = keys.path(of: outline.deviceKey, outline.vault)
    try FileProtector.makeFolders(above: folder + "/default.vault")
    for file in [key, key + ".seen"] where try FilePlace.exists(file) {
      try VaultNames.move(file, to: folder + "/" + (file == key ? "device.key" : "device.key.seen"))
    }
    try VaultNames.move(path, to: folder + "/default.vault")
  }

  /// The person's side removes what no side needs any more. Then the move is over.
  private func forget(_ note: MoveNote) throws {
    if let link {
      do { try ask(.forgetVault, note.content) { _ in } } catch {
        // One that is gone has removed it or not; the next command does. What cannot be removed is told by the command.
        guard !link.isGone else { throw error }
      }
    }
    try MoveNote.remove(in: place)
  }

  /// Makes the directory, and removes what a move left that was killed before its note.
  private func prepare() throws {
    try FileProtector.makeFolders(above: draft)
    try removeDraft()
  }

  /// Removes the draft, and its device key where that is of the draft alone. A draft of the keeper's own vault can name the key of that
  /// vault: it was killed before it got a new one.
  private func removeDraft() throws {
    let hasVault = try FilePlace.exists(place.vault)
    VaultMove.removeCopy(at: draft, protector: hasVault ? nil : keys)
  }
}
