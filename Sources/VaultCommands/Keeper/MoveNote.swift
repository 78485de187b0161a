import AgentMessages
import CommandLineKit
import Glibc
import VaultKit

/// What the keeper notes while a vault is on its way: where the person's side has it, or will have it.
///
/// There are two files of the vault then, and the person's side decides which of them is the vault: by the name of its file. The keeper
/// cannot look there, so it asks the next command of the person.
struct MoveNote: Equatable {
  enum Direction: String {
    case intoKeeper = "into"
    case outOfKeeper = "out"
  }

  let direction: Direction
  /// The vault on the person's side. Absolute.
  let path: String
  /// Where its device key is on the person's side: ``FileProtector/word``.
  let keyPlace: String
  let vault: VaultID
  /// The device key of the person's side.
  let key: DeviceKeyID

  /// The fields, each with a NUL at its end: a path can have anything else.
  private var text: String {
    [direction.rawValue, path, keyPlace, vault.hexadecimal, key.hexadecimal].map { $0 + "\0" }.joined()
  }

  /// - Throws: Exit 13 for a path or a place that no command of ours names.
  init(
    _ direction: Direction, path: String, keyPlace: String, vault: VaultID, key: DeviceKeyID
  ) throws(CommandError) {
    guard path.hasPrefix("/"), path.utf8.count < PATH_MAX, keyPlace.utf8.count < PATH_MAX,
      !path.utf8.contains(0), !keyPlace.utf8.contains(0), FileProtector(word: keyPlace) != nil
    else { throw CommandError(.io, "the command names no place for the vault and its device key") }
    (self.direction, self.path, self.keyPlace) = (direction, path, keyPlace)
    (self.vault, self.key) = (vault, key)
  }

  private init?(_ text: String) {
    let parts = text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 6, let direction = Direction(rawValue: parts[0]),
      let vault = VaultID(hexadecimal: parts[3]), let key = DeviceKeyID(hexadecimal: parts[4]),
      let note = try? MoveNote(direction, path: parts[1], keyPlace: parts[2], vault: vault, key: key)
    else { return nil }
    self = note
  }
}

// MARK: On its way to the other side

extension MoveNote {
  var content: CallContent {
    var content = CallContent()
    content.set(.way, direction.rawValue)
    content.set(.path, path)
    content.set(.keyPlace, keyPlace)
    content.set(.vaultMoved, vault.hexadecimal)
    content.set(.name, key.hexadecimal)
    return content
  }

  init(_ content: CallContent) throws(AgentMessageError) {
    guard let direction = Direction(rawValue: try content.text(.way)),
      let vault = VaultID(hexadecimal: try content.text(.vaultMoved)),
      let key = DeviceKeyID(hexadecimal: try content.text(.name)),
      let note = try? MoveNote(
        direction, path: content.text(.path), keyPlace: content.text(.keyPlace), vault: vault, key: key)
    else { throw .wrongValue(AgentCall.Content.vaultMoved.rawValue) }
    self = note
  }
}

// MARK: On the disk

extension MoveNote {
  /// Whether a vault can be on its way. Looks at a name alone.
  static func isThere(in place: KeeperPlace) -> Bool {
    unsafe access(place.moveNote, F_OK) == 0 || errno != ENOENT
  }

  /// The note; nil for none.
  ///
  /// - Throws: Exit 13 if it cannot be read: then it is not known which file is the vault.
  static func read(in place: KeeperPlace) throws(CommandError) -> MoveNote? {
    let path = place.moveNote
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw .io("reading \(path)", errno: errno) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw .io("reading \(path)", errno: errno) }
    guard let note = MoveNote(String(decoding: bytes.prefix(count), as: UTF8.self)) else {
      throw CommandError(
        .io, "the keeper's note of a move says nothing that this version understands",
        hint: "have an administrator decide: sudo vault-keeper run \"$USER\" -- keeper settle person|keeper",
        code: "keeperMoveUnknown")
    }
    return note
  }

  /// Writes the note, durably: from here on the person's side decides.
  func write(in place: KeeperPlace) throws(CommandError) {
    let (path, text) = (place.moveNote, text)
    let draft = path + ".new"
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .io("making \(draft)", errno: errno) }
    defer { close(file) }
    guard unsafe Glibc.write(file, text, text.utf8.count) == text.utf8.count, fsync(file) == 0,
      unsafe rename(draft, path) == 0
    else { throw .io("writing \(path)", errno: errno) }
    try FilePlace.synchronizeFolder(of: path)
  }

  /// Removes the note, durably: one side has the vault, and the other has none.
  static func remove(in place: KeeperPlace) throws(CommandError) {
    let path = place.moveNote
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .io("removing \(path)", errno: errno) }
    try FilePlace.synchronizeFolder(of: path)
  }
}

extension FileProtector {
  /// The place as one word: `file:PATH` or `folder:PATH`.
  var word: String {
    switch place {
    case .file(let path): "file:" + path
    case .folder(let path): "folder:" + path
    }
  }

  init?(word: String) {
    if word.hasPrefix("file:/") {
      self.init(file: String(word.dropFirst(5)))
    } else if word.hasPrefix("folder:/") {
      self.init(folder: String(word.dropFirst(7)))
    } else {
      return nil
    }
  }
}
