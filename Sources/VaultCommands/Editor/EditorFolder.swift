import CLinux
import CommandLineKit
import Glibc
import SecretMemory
import VaultKit
import VaultWords

/// A directory for the time of one editor, on a file system that is on no disk (tmpfs or ramfs), for this user alone.
///
/// The text is in one file of mode 0600 in it, and whatever else the editor writes is beside that file. The directory is locked as long as
/// this process lives. ``remove()`` overwrites and removes all of it, and the next editor does the same with those whose process was killed.
///
/// A file system in memory may be swapped out by the kernel, like the memory of the editor itself.
final class EditorFolder {
  let path: String
  /// The file with the text.
  var file: String { path + "/" + Self.fileName }

  private let descriptor: Int32
  /// The file as it was made, which an editor may have replaced by another one.
  private let made: Int32

  /// Makes a directory with the text in it.
  ///
  /// - Parameter places: Where it can be, the best first.
  /// - Throws: Exit 9 if none of them is in memory, 13 if it cannot be made.
  init(_ text: SharedSecret, in places: [String]) throws(CommandError) {
    guard let place = places.first(where: Self.isInMemory) else { throw Self.noPlace(places) }
    for place in places { Self.removeLeft(in: place) }
    (path, descriptor) = try Self.make(in: place)
    made = unsafe clinux_create(
      descriptor, Self.fileName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    let problem = made < 0 ? errno : text.expose { SecretOutput.write($0, to: made) }
    guard problem == 0 else {
      // Not by `deinit`: it does not run for what is not made.
      Self.end(path, descriptor, made)
      throw .io("writing the text for the editor in \(printable(place))", errno: problem)
    }
  }

  /// What is in the file now.
  ///
  /// - Throws: Exit 12 if it is none, or has more than `limit` bytes.
  func read(limit: Int) throws(CommandError) -> SecretBytes {
    let file = Self.open(Self.fileName, of: descriptor, O_RDONLY)
    guard file >= 0 else {
      guard errno == ENOENT else { throw .io("reading what the editor stored", errno: errno) }
      throw .malformed("the editor removed the file", hint: EditorRun.nothingChanged)
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .malformed("the editor left no file in place of the file", hint: EditorRun.nothingChanged)
    }
    do throws(SecretInput.Fault) { return try SecretInput.all(of: file, limit: limit) } catch {
      switch error {
      case .tooLong:
        throw .malformed(
          "the editor stored more than \(limit >> 20) MiB, which is no entry", hint: EditorRun.nothingChanged)
      case .notOpen: throw .io("reading what the editor stored", errno: EBADF)
      case .failed(let code): throw .io("reading what the editor stored", errno: code)
      }
    }
  }

  /// Overwrites and removes all of it.
  func remove() { Self.end(path, descriptor, made) }

  private static func end(_ path: String, _ descriptor: Int32, _ made: Int32) {
    if made >= 0 {
      overwrite(made)
      close(made)
    }
    empty(descriptor)
    _ = unsafe rmdir(path)
    close(descriptor)
  }
}

// MARK: Making

extension EditorFolder {
  private static let prefix = "vaultctl-edit-"
  private static let fileName = "entry"

  private static func noPlace(_ places: [String]) -> CommandError {
    CommandError(
      .refused,
      "no file system in memory is there for the text of the editor: tried \(places.map(printable).joined(separator: ", "))",
      hint:
        "mount one, like 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm', or change the entry with 'vaultctl edit NAME --set'",
      code: "noMemoryFileSystem")
  }

  /// Whether a directory is on a tmpfs or ramfs, and others cannot replace what this user makes in it.
  private static func isInMemory(_ place: String) -> Bool {
    guard place.hasPrefix("/") else { return false }
    let folder = unsafe Glibc.open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    var status = stat()
    guard unsafe fstat(folder, &status) == 0, status.st_uid == geteuid() || status.st_uid == 0 else {
      return false
    }
    let isShared = status.st_mode & 0o022 != 0
    guard !isShared || status.st_mode & S_ISVTX != 0 else { return false }
    return [tmpfs, ramfs].contains(clinux_file_system_type(folder))
  }

  // linux/magic.h
  private static let tmpfs: Int64 = 0x0102_1994
  private static let ramfs: Int64 = 0x8584_58F6

  /// A new directory that is locked.
  private static func make(in place: String) throws(CommandError) -> (path: String, descriptor: Int32) {
    // One that is not locked yet can look like one that was left.
    for _ in 1...8 {
      let path = "\(place)/\(prefix)\(try name())"
      guard unsafe mkdir(path, 0o700) == 0 else {
        if errno == EEXIST { continue }
        throw .io("making a directory in \(printable(place))", errno: errno)
      }
      let folder = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard folder >= 0 else { continue }
      // Not what a umask left of it.
      if flock(folder, LOCK_EX | LOCK_NB) == 0, fchmod(folder, 0o700) == 0, leads(path, to: folder) {
        return (path, folder)
      }
      close(folder)
    }
    throw .io("making a directory in \(printable(place))", errno: EAGAIN)
  }

  private static func name() throws(CommandError) -> String {
    let bytes: SecretBytes
    do throws(VaultError) { bytes = try VaultEnvironment.system.random.newSecret(8) } catch {
      throw CommandError(error)
    }
    return bytes.expose { $0.array.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
  }

  private static func leads(_ path: String, to folder: Int32) -> Bool {
    var (named, opened) = (stat(), stat())
    guard unsafe lstat(path, &named) == 0, unsafe fstat(folder, &opened) == 0 else { return false }
    return named.st_ino == opened.st_ino && named.st_dev == opened.st_dev
  }
}

// MARK: Removing

extension EditorFolder {
  /// Removes what processes have left that were killed.
  private static func removeLeft(in place: String) {
    guard isInMemory(place) else { return }
    for name in names(in: place) where name.hasPrefix(prefix) {
      let path = place + "/" + name
      let folder = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard folder >= 0 else { continue }
      var status = stat()
      if unsafe fstat(folder, &status) == 0, status.st_uid == geteuid(), flock(folder, LOCK_EX | LOCK_NB) == 0
      {
        empty(folder)
        _ = unsafe rmdir(path)
      }
      close(folder)
    }
  }

  /// Overwrites and removes what is in a directory. Follows no link.
  private static func empty(_ folder: Int32, depth: Int = 0) {
    for name in names(of: folder) {
      var status = stat()
      guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR:
        if depth < deepest { emptyInner(name, of: folder, depth: depth + 1) }
        _ = unsafe unlinkat(folder, name, AT_REMOVEDIR)
      case S_IFREG:
        // Another name of it is none of ours.
        if status.st_nlink == 1 { overwrite(name, of: folder, mode: status.st_mode) }
        _ = unsafe unlinkat(folder, name, 0)
      default: _ = unsafe unlinkat(folder, name, 0)
      }
    }
  }

  private static func emptyInner(_ name: String, of folder: Int32, depth: Int) {
    _ = unsafe fchmodat(folder, name, 0o700, 0)
    let inner = open(name, of: folder, O_RDONLY | O_DIRECTORY)
    guard inner >= 0 else { return }
    empty(inner, depth: depth)
    close(inner)
  }

  private static func overwrite(_ name: String, of folder: Int32, mode: mode_t) {
    if mode & 0o200 == 0 { _ = unsafe fchmodat(folder, name, 0o600, 0) }
    let file = open(name, of: folder, O_WRONLY)
    guard file >= 0 else { return }
    overwrite(file)
    close(file)
  }

  /// Follows no link, and waits for nothing.
  private static func open(_ name: String, of folder: Int32, _ flags: Int32) -> Int32 {
    unsafe clinux_create(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0)
  }

  private static let deepest = 32

  /// Writes zeros over a file.
  private static func overwrite(_ file: Int32) {
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_size > 0 else { return }
    let zeros = [UInt8](repeating: 0, count: 64 << 10)
    var offset = off_t(0)
    while offset < status.st_size {
      let count = min(zeros.count, Int(status.st_size - offset))
      let written = unsafe pwrite(file, zeros, count, offset)
      guard written > 0 else { return }
      offset += off_t(written)
    }
  }

  private static func names(in path: String) -> [String] {
    let folder = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return [] }
    defer { close(folder) }
    return names(of: folder)
  }

  /// The names in a directory, but . and ..
  private static func names(of folder: Int32) -> [String] {
    // The stream ends with a descriptor of its own.
    let copy = open(".", of: folder, O_RDONLY | O_DIRECTORY)
    guard copy >= 0 else { return [] }
    guard let stream = unsafe fdopendir(copy) else {
      close(copy)
      return []
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
