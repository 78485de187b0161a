import CLinux
import Glibc

/// `<vault>.lock`: a process that makes a vault holds it, and removes it at the end. ``RotationLock`` and ``ItemLock`` have other
/// suffixes.
///
/// A file of that name can be a vault that this process has open, called `x.lock` beside `x`. So no descriptor is closed directly.
enum FileLock {
  static let usualSuffix = ".lock"

  static func name(in place: borrowing VaultPath, suffix: String = usualSuffix) -> String {
    place.name + suffix
  }

  /// - Throws: ``StorageError/refusedBeside(_:path:)`` for anything of that name that is not a lock of this user alone: nothing is
  ///   written into it.
  static func take(
    in place: borrowing VaultPath, suffix: String = usualSuffix
  ) throws(StorageError) -> Int32 {
    for _ in 0..<2_000 {
      if let file = try takeNow(in: place, suffix: suffix) { return file }
      usleep(5_000)
    }
    throw .busy
  }

  /// The same without waiting: `nil` while it is held, in another process or in this one.
  static func takeNow(in place: borrowing VaultPath, suffix: String) throws(StorageError) -> Int32? {
    let name = name(in: place, suffix: suffix)
    let file = unsafe clinux_create(place.folder, name, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw try failure(errno, name: name, in: place) }
    do throws(StorageError) {
      if try lock(file), try isNamed(file, name: name, in: place) {
        guard let refusal = try refusal(of: file) else { return file }
        throw .refusedBeside(refusal, path: place.path(of: name))
      }
    } catch {
      OpenVaultFiles.close(file)
      throw error
    }
    OpenVaultFiles.close(file)
    return nil
  }

  /// - Returns: False while another holds it.
  /// - Throws: Where there are no such locks: waiting would not help.
  private static func lock(_ file: Int32) throws(StorageError) -> Bool {
    if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
    guard errno == EWOULDBLOCK || errno == EINTR else { throw .io(code: 0, errno: errno) }
    return false
  }

  /// What the last holder noted.
  struct Note {
    /// Two identifiers in hexadecimal digits, with a space between them; empty for a file without a key of its own.
    let text: String
    /// The identity of the file that the note is about.
    let file: String
  }

  /// What the last holder noted; `nil` if it noted nothing.
  static func note(in file: Int32) throws(StorageError) -> Note? {
    let words = try content(of: file).split(separator: UInt8(ascii: " ")).map {
      String(decoding: $0, as: UTF8.self)
    }
    return words.last.map { Note(text: words.dropLast().joined(separator: " "), file: $0) }
  }

  /// Notes a file of the directory, after a text. Durable when this returns.
  static func note(
    _ text: String, about name: String, in place: borrowing VaultPath, file: Int32
  ) throws(StorageError) {
    guard let identity = try place.identity(of: name) else { throw .missing }
    try write(text.isEmpty ? identity : text + " " + identity, to: file)
  }

  /// Removes the note. Durable when this returns.
  static func removeNote(in file: Int32) throws(StorageError) { try write("", to: file) }

  private static func write(_ text: String, to file: Int32) throws(StorageError) {
    let bytes = Array(text.utf8)
    precondition(bytes.count <= mostNoted, "FileLock.write: a note that is too long")
    guard ftruncate(file, 0) == 0 else { throw .creating(errno) }
    let count = unsafe pwrite(file, bytes, bytes.count, 0)
    // A part is written where the disk or a limit ends.
    guard count < 0 || count == bytes.count else { throw .full }
    guard count >= 0, fsync(file) == 0 else { throw .creating(errno) }
  }

  /// The bytes of a lock: one more than the longest note for a file that is longer.
  private static func content(of file: Int32) throws(StorageError) -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: mostNoted + 1)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    guard count >= 0 else { throw .io(code: 0, errno: errno) }
    return bytes.prefix(count)
  }

  private static let mostNoted = 128

  static func release(_ file: Int32, in place: borrowing VaultPath) {
    remove(in: place)
    OpenVaultFiles.close(file)
  }

  static func remove(in place: borrowing VaultPath, suffix: String = usualSuffix) {
    unsafe unlinkat(place.folder, name(in: place, suffix: suffix), 0)
  }

  /// Removes the lock of a process that was killed after its vault got its name. A lock that is held stays, and so does one beside
  /// an unfinished vault: it names that vault's key.
  static func removeLeft(in place: borrowing VaultPath) throws(StorageError) {
    guard let file = try takeLeft(in: place) else { return }
    defer { OpenVaultFiles.close(file) }
    guard try place.status(of: NewVaultPlace.temporaryName(of: place)) == nil else { return }
    remove(in: place)
  }

  /// Takes the lock that a killed process left; `nil` where there is none, or a process holds it.
  static func takeLeft(
    in place: borrowing VaultPath, suffix: String = usualSuffix
  ) throws(StorageError) -> Int32? {
    let name = name(in: place, suffix: suffix)
    guard let left = try place.status(of: name), left.isRegularFile, left.byteCount <= mostNoted else {
      return nil
    }
    let file = unsafe clinux_create(place.folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    guard file >= 0 else { return nil }
    do throws(StorageError) {
      if flock(file, LOCK_EX | LOCK_NB) == 0, try isNamed(file, name: name, in: place),
        try refusal(of: file) == nil
      {
        return file
      }
    } catch {
      OpenVaultFiles.close(file)
      throw error
    }
    OpenVaultFiles.close(file)
    return nil
  }

  /// Why a lock could not be opened or made.
  private static func failure(
    _ number: Int32, name: String, in place: borrowing VaultPath
  ) throws(StorageError) -> StorageError {
    guard let found = try place.status(of: name), !found.isRegularFile || found.owner != geteuid() else {
      return .creating(number)
    }
    return .refusedBeside(found.isRegularFile ? .foreignOwner : .notALock, path: place.path(of: name))
  }

  /// Why the file is not to be written as a lock; `nil` if it is one. What is written into a file with a second name is written into
  /// that one too.
  private static func refusal(of file: Int32) throws(StorageError) -> StorageError.Refusal? {
    var about = stat()
    guard unsafe fstat(file, &about) == 0 else { throw .io(code: 0, errno: errno) }
    let status = FileStatus(about)
    guard status.isRegularFile else { return .notALock }
    guard status.owner == geteuid() else { return .foreignOwner }
    guard status.linkCount <= 1 else { return .severalNames }
    guard status.permissions == 0o600 else { return .notALock }
    return isNote(try content(of: file)) ? nil : .notALock
  }

  /// Whether bytes are the content of a lock: none, or a note, which is identifiers in hexadecimal digits. Another file of that name is
  /// the user's, and stays.
  private static func isNote(_ bytes: ArraySlice<UInt8>) -> Bool {
    let words = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    return bytes.isEmpty
      || [1, 3].contains(words.count) && words.allSatisfy { $0.count == 32 && $0.allSatisfy(isHexadecimal) }
  }

  /// What can be read of a lock that another process may hold: whether it is none, and its note.
  static func read(in place: borrowing VaultPath) throws(StorageError) -> (isForeign: Bool, note: Note?) {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let file = unsafe clinux_create(place.folder, name(in: place), flags, 0)
    guard file >= 0 else { return (errno != ENOENT, nil) }
    defer { OpenVaultFiles.close(file) }
    guard try refusal(of: file) == nil else { return (true, nil) }
    return (false, try note(in: file))
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  /// Whether a process holds the lock.
  static func isHeld(in place: borrowing VaultPath) -> Bool {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let file = unsafe clinux_create(place.folder, name(in: place), flags, 0)
    guard file >= 0 else { return false }
    defer { OpenVaultFiles.close(file) }
    return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// False when the previous holder has removed the file meanwhile. A later process may have made it again.
  private static func isNamed(
    _ file: Int32, name: String, in place: borrowing VaultPath
  ) throws(StorageError) -> Bool {
    var about = stat()
    guard unsafe fstat(file, &about) == 0, let named = try place.status(of: name) else { return false }
    return named.inode == UInt64(about.st_ino)
  }
}
