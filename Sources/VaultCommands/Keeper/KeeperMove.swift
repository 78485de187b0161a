package import AgentMessages
import CommandLineKit
import Glibc
import SecretMemory
package import VaultKit
import VaultWords

/// The keeper's side of a move of the vault, into the keeper or out of it.
///
/// A second file of the vault is made, under a device key of the other side, and a note is written. Then the person's side does the one
/// step that decides: it removes its file, or gives the new one its name. After that the keeper follows: ``settle(_:isTheirs:)``. If
/// either process ends in between, the next command of the person tells the keeper whether the person's file is there.
package struct KeeperMove {
  private let place: KeeperPlace
  private let link: ClientLink
  private let environment: VaultEnvironment

  package init(in place: KeeperPlace, with link: ClientLink, environment: VaultEnvironment) {
    (self.place, self.link, self.environment) = (place, link, environment)
  }

  /// Whether a vault is on its way. Looks at a name alone.
  package static func isUnsettled(in place: KeeperPlace) -> Bool { MoveNote.isThere(in: place) }

  private var keys: FileProtector { FileProtector(folder: place.keys) }
  /// The file that is not the vault, or not yet.
  private var draft: String { place.moving + "/default.vault" }
}

// MARK: Into the keeper

extension KeeperMove {
  /// Takes the vault of the person.
  ///
  /// - Parameter interruption: That of the command: a signal before the person's side lets go leaves everything as it was.
  /// - Throws: Exit 8 if the keeper has a vault. After an error the vault is on the side that the next command finds.
  func adopt(interruption: Interruption) throws -> MoveNote {
    guard try !FilePlace.exists(place.vault) else {
      throw CommandError(
        .alreadyExists, "the keeper has a vault already",
        hint: "'vaultctl keeper leave PATH' moves it out first", code: VaultError.Code.vaultExists.rawValue)
    }
    try prepare()
    let given = try link.ask(.giveVault, CallContent()) { answer throws(AgentMessageError) in
      let places = try answer.content.list(.list)
      guard places.count == 2 else { throw .wrongLength }
      return (
        path: places[0], keyPlace: places[1], key: try answer.content.secret(.secret), file: answer.descriptors
      )
    }
    let key = try CarriedKey(given.key)
    guard let old = key.carried?.id else { preconditionFailure("KeeperMove.adopt: a key without an id") }
    let outline = try given.file.lend { descriptors throws(CommandError) in
      let descriptor = try link.checked(descriptors)
      do throws(VaultError) {
        return try VaultMove.copy(
          from: descriptor, keptBy: key, to: draft, protector: keys, environment: environment)
      } catch { throw CommandError(describing: error) }
    }
    let note = MoveNote(
      .intoKeeper, path: given.path, keyPlace: given.keyPlace, vault: outline.vault, key: old)
    do {
      try note.write(in: place)
      try interruption.hold()
      try link.ask(.letGo, CallContent()) { _ in }
    } catch {
      try? settle()
      throw error
    }
    try settle(note, isTheirs: false)
    return note
  }
}

// MARK: Out of the keeper

extension KeeperMove {
  /// Gives the vault to the person. No other request has it.
  ///
  /// - Throws: As ``adopt(interruption:)``; exit 6 if the keeper has no vault.
  func leave(interruption: Interruption) throws -> MoveNote {
    try prepare()
    let source = try VaultMove.Source(of: place.vault)
    let carried = CarriedKey()
    let outline = try source.lend { descriptor throws(VaultError) in
      try VaultMove.copy(
        from: descriptor, keptBy: keys, to: draft, protector: carried, environment: environment)
    }
    guard let key = carried.carried else { preconditionFailure("KeeperMove.leave: no new device key") }
    var content = CallContent()
    content.set(.secret, key.bytes)
    content.set(.vaultMoved, outline.vault.hexadecimal)
    let places = try link.ask(.takeKey, content) { answer throws(AgentMessageError) in
      try answer.content.list(.list)
    }
    guard places.count == 2 else { throw CommandError(.io, "the command sent what cannot come") }
    let note = MoveNote(
      .outOfKeeper, path: places[0], keyPlace: places[1], vault: outline.vault, key: key.id)
    do {
      try note.write(in: place)
      try give(to: note.path, interruption: interruption)
    } catch {
      try? settle()
      throw error
    }
    try settle(note, isTheirs: true)
    source.keep()
    return note
  }

  /// Writes the person's file. It gets its name as the last step.
  private func give(to path: String, interruption: Interruption) throws {
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
  /// Ends a move that was interrupted: asks the process of the command whether the person's file is there. Does nothing if there is none.
  ///
  /// - Throws: If it cannot be found out, or the disk does not do it. The note stays.
  package func settle() throws {
    guard let note = try MoveNote.read(in: place) else { return }
    var content = CallContent()
    content.set(.path, note.path)
    content.set(.keyPlace, note.keyPlace)
    content.set(.vaultMoved, note.vault.hexadecimal)
    content.set(.name, note.key.hexadecimal)
    let isTheirs = try link.ask(.isVaultThere, content) { answer throws(AgentMessageError) in
      try answer.content.flag(.isTrue)
    }
    guard note.direction == .outOfKeeper, isTheirs, try FilePlace.exists(place.vault) else {
      return try settle(note, isTheirs: isTheirs)
    }
    let source = try VaultMove.Source(of: place.vault)
    try settle(note, isTheirs: true)
    source.keep()
  }

  /// Follows the person's side. Each step can be done again.
  ///
  /// - Parameter isTheirs: Whether the person's side has the vault.
  private func settle(_ note: MoveNote, isTheirs: Bool) throws {
    switch (note.direction, isTheirs) {
    case (.intoKeeper, false):
      // It is in its place already if the keeper was killed after this step.
      if try FilePlace.exists(draft) {
        guard try !FilePlace.exists(place.vault) else { throw Self.twoVaults(draft, place.vault) }
        try FileProtector.makeFolders(above: place.vault)
        try VaultNames.move(draft, to: place.vault)
      }
    case (.outOfKeeper, true):
      if try FilePlace.exists(place.vault) { try setAside(note) }
    case (.intoKeeper, true), (.outOfKeeper, false): break
    }
    VaultMove.removeCopy(at: draft, protector: keys)
    try MoveNote.remove(in: place)
  }

  /// Only root can have put the second one there.
  private static func twoVaults(_ one: String, _ other: String) -> CommandError {
    CommandError(
      .io, "a vault was moved into the keeper, which has another one by now",
      hint: "have an administrator move one of them away: \(one), \(other)", code: "keeperTwoVaults")
  }

  /// The vault has left: nothing opens it here any more. It is kept for root, because a program of the person could say so as well.
  private func setAside(_ note: MoveNote) throws {
    let path = place.left + "/" + note.key.hexadecimal + ".vault"
    try FileProtector.makeFolders(above: path)
    try VaultNames.move(place.vault, to: path)
  }

  /// Makes the directory, and removes what a move left that was killed before its note.
  private func prepare() throws {
    try FileProtector.makeFolders(above: draft)
    VaultMove.removeCopy(at: draft, protector: keys)
  }
}
