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
  /// Its device key.
  private let key: SharedSecret?

  /// A vault that comes out of the keeper.
  ///
  /// - Throws: Exit 8 if something is at the path.
  init(receivingAt path: String, keys: FileProtector) throws {
    try FilePlace.refuseSideFile(path)
    guard try !FilePlace.exists(path) else { throw FilePlace.taken(path) }
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

  /// The step that decides: the vault is in the keeper from here on. The device key is removed before the keeper forgets the move.
  private func letGo() throws {
    guard try source?.remove() != nil else { throw Self.nothing }
    // If it stays, the command says so at its end.
    try? removeKey()
  }

  /// The vault is in the keeper.
  ///
  /// - Throws: If its device key is still there: it opens old copies.
  func finish() throws {
    try removeKey()
    source = nil
  }

  private func removeKey() throws {
    guard let outline = source?.outline else { return }
    try Self.remove(outline.deviceKey, of: outline.vault, from: keys, at: path)
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
        try FileProtector.makeFolders(above: path)
        try DeviceKeys(keys, of: vault).store(DeviceKey(bytes.copy()), for: path)
        answer.set(.list, [path, keys.word])
      })
  }
}

// MARK: A move that was interrupted

extension PersonsSide {
  /// Whether the vault of an interrupted move is on this side: whether its file is there. If not, its device key here is removed, so that
  /// no file which comes back later opens.
  static func isVaultThere(_ call: AgentCall) throws(AgentMessageError) -> AgentReply {
    let (path, word) = (try call.content.text(.path), try call.content.text(.keyPlace))
    guard let vault = VaultID(hexadecimal: try call.content.text(.vaultMoved)),
      let key = DeviceKeyID(hexadecimal: try call.content.text(.name)), let keys = FileProtector(word: word)
    else { throw .wrongValue(AgentCall.Content.keyPlace.rawValue) }
    return AgentReply(
      call.number,
      answer { answer in
        let isThere = try self.isThere(vault, at: path)
        if !isThere { try remove(key, of: vault, from: keys, at: path) }
        answer.set(.isTrue, isThere)
      })
  }

  private static func isThere(_ vault: VaultID, at path: String) throws -> Bool {
    do throws(VaultError) { return try VaultCore.outline(at: path).vault == vault } catch {
      guard error.code == .vaultMissing else {
        throw CommandError(
          .io, "a move of the vault was interrupted, and \(printable(path)) cannot be read: \(error.message)",
          hint: "make it readable again; then the next command ends the move", code: "keeperMoveUnknown")
      }
      return false
    }
  }

  private static func remove(
    _ key: DeviceKeyID, of vault: VaultID, from keys: FileProtector, at path: String
  ) throws {
    let all = DeviceKeys(keys, of: vault)
    all.deleteUnnamed(key, beside: path)
    guard try all.ids().contains(key) else { return }
    throw CommandError(
      .io, "the device key of the vault that was moved is still there: \(printable(all.place(of: key)))",
      hint: "remove it: with it, old copies of the vault open", code: "keeperKeyLeft")
  }
}
