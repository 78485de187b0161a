import AgentMessages
import CommandLineKit
import Glibc
import SecretMemory
import VaultKit
import VaultWords

/// The person's side of a move of the vault, into the keeper or out of it. ``KeeperMove`` is the other side.
///
/// It is in the process of the command, and does what that side asks. While the vault goes into the keeper, nobody else can open the
/// person's file.
final class PersonsSide {
  /// The vault on this side, now or later. Absolute.
  let path: String
  let keys: FileProtector
  /// The vault that goes into the keeper.
  private var source: VaultMove.Source?
  /// The same when the keeper has it.
  private var moved: VaultOutline?
  /// Its device key.
  private let key: SharedSecret?

  /// A vault that comes out of the keeper.
  ///
  /// - Throws: If no vault can be made at the path.
  init(receivingAt path: String, keys: FileProtector) throws {
    guard try !FilePlace.exists(path) else { throw FilePlace.taken(path) }
    try VaultMove.check(newPlace: path)
    (self.path, self.keys, key) = (path, keys, nil)
  }

  /// A vault that goes into the keeper. It is closed, and nobody can open it while this exists.
  ///
  /// - Throws: Exit 13 if a program has it open; what is wrong with its device key.
  init(giving path: String, keys: FileProtector) throws {
    let source = try VaultMove.Source(of: path)
    let key = try DeviceKeys(keys, of: source.outline.vault).load(source.outline.deviceKey)
    (self.path, self.keys) = (path, keys)
    self.key = SharedSecret(key.expose { SecretBytes(copying: $0) })
    self.source = consume source
  }

  /// Does what the keeper asks.
  ///
  /// - Returns: nil if the call is about no move.
  func reply(to call: AgentCall) throws(AgentMessageError) -> AgentReply? {
    switch call.kind {
    case .giveVault: give(for: call)
    case .letGo: AgentReply(call.number, Self.answer { _ in try self.letGo() })
    case .takeKey: try takeKey(call)
    default: nil
    }
  }

  private static var nothing: CommandError { CommandError(.io, "this command moves no such vault") }

  private static func answer(
    _ body: (inout CallServer.Answer) throws -> Void
  ) -> AgentReply.Answer {
    do {
      var answer = CallServer.Answer()
      try body(&answer)
      return .content(answer)
    } catch { return .failure(CommandError(describing: error).failureMessage) }
  }
}

// MARK: Into the keeper

extension PersonsSide {
  private func give(for call: AgentCall) -> AgentReply {
    var descriptors = AgentDescriptors()
    let answer = Self.answer { answer in
      guard let key, let copy = source?.lend({ fcntl($0, F_DUPFD_CLOEXEC, 0) }) else { throw Self.nothing }
      guard copy >= 0 else { throw CommandError.io("using \(printable(path))", errno: errno) }
      descriptors = AgentDescriptors(owning: [copy])
      answer.set(.secret, key)
      answer.set(.list, [path, keys.word])
    }
    return AgentReply(call.number, answer, descriptors: descriptors)
  }

  /// The step that decides: the vault is in the keeper from here on.
  private func letGo() throws {
    guard try source?.letGo() != nil else { throw Self.nothing }
  }

  /// The keeper has the vault: what is left of it here can be looked at and removed.
  func release() {
    if let outline = source?.outline { moved = outline }
    source = nil
  }

  /// The vault is in the keeper.
  ///
  /// - Throws: If its device key is still there: it opens old copies.
  func finish() throws {
    release()
    guard let moved else { return }
    try Self.requireGone(moved.deviceKey, of: moved.vault, from: keys)
  }
}

// MARK: Out of the keeper

extension PersonsSide {
  private func takeKey(_ call: AgentCall) throws(AgentMessageError) -> AgentReply {
    let bytes = try call.content.secret(.secret)
    guard let vault = VaultID(hexadecimal: try call.content.text(.vaultMoved)) else {
      throw .wrongValue(AgentCall.Content.vaultMoved.rawValue)
    }
    return AgentReply(
      call.number,
      Self.answer { answer in
        guard key == nil else { throw Self.nothing }
        try DeviceKeys(keys, of: vault).store(DeviceKey(bytes.copy()), for: path)
        answer.set(.list, [path, keys.word])
      })
  }
}

// MARK: A move that was interrupted

extension PersonsSide {
  /// Where the vault of an interrupted move is, by what is here; true for this side.
  ///
  /// | there is | into the keeper | out of it |
  /// |---|---|---|
  /// | the vault at its path | here | here |
  /// | the file that was set aside | in the keeper | |
  /// | the device key for the file that has no name yet | | in the keeper |
  /// | none of them: another home, a disk that is not mounted | not known | not known |
  static func isVaultThere(_ call: AgentCall) throws(AgentMessageError) -> AgentReply {
    let note = try MoveNote(call.content)
    return AgentReply(call.number, answer { $0.set(.isTrue, try isHere(note)) })
  }

  private static func isHere(_ note: MoveNote) throws -> Bool {
    do throws(VaultError) {
      if try VaultMove.isThere(note.vault, under: note.key, at: note.path) {
        try VaultMove.settle(note.path)
        return true
      }
    } catch { throw unknown(note, because: error.message) }
    guard try isLetGo(note) else { throw unknown(note, because: "nothing of it is there") }
    try VaultMove.settle(note.path)
    return false
  }

  private static func isLetGo(_ note: MoveNote) throws -> Bool {
    switch note.direction {
    case .intoKeeper: try VaultMove.isThere(note.vault, under: note.key, at: VaultMove.aside(note.path))
    case .outOfKeeper: try keys(note)?.keys(of: note.vault).contains(note.key) ?? false
    }
  }

  private static func keys(_ note: MoveNote) -> FileProtector? { FileProtector(word: note.keyPlace) }

  private static func unknown(_ note: MoveNote, because why: String) -> CommandError {
    CommandError(
      .io,
      "a move of the vault was interrupted, and this command cannot tell which side has it: "
        + "\(printable(note.path)): \(why)",
      hint:
        "make it readable again, in the home and with the disks of then, and repeat this; or have an administrator decide: "
        + "sudo vault-keeper run \"$USER\" -- keeper settle person|keeper", code: "keeperMoveUnknown")
  }

  /// Removes what is left of a move that is over.
  static func forgetVault(_ call: AgentCall) throws(AgentMessageError) -> AgentReply {
    let note = try MoveNote(call.content)
    return AgentReply(call.number, answer { _ in try forget(note) })
  }

  private static func forget(_ note: MoveNote) throws {
    guard try !VaultMove.isThere(note.vault, under: note.key, at: note.path), let keys = keys(note) else {
      return
    }
    DeviceKeys(keys, of: note.vault).deleteUnnamed(note.key, beside: note.path)
    let aside = VaultMove.aside(note.path)
    if try VaultMove.isThere(note.vault, under: note.key, at: aside) { unsafe unlink(aside) }
    try requireGone(note.key, of: note.vault, from: keys)
  }

  private static func requireGone(_ key: DeviceKeyID, of vault: VaultID, from keys: FileProtector) throws {
    let all = DeviceKeys(keys, of: vault)
    guard try all.ids().contains(key) else { return }
    throw CommandError(
      .io, "the device key of the vault that was moved is still there: \(printable(all.place(of: key)))",
      hint: "remove it and the file KEY.seen beside it: with it, old copies of the vault open",
      code: "keeperKeyLeft")
  }
}
