import CLinux
import Glibc

/// The lock of one terminal: a `flock` on the file `tty-MAJOR-MINOR` in the ``LockDirectory``. The kernel releases
/// it when the process ends. The file is never removed.
///
/// Each attempt opens the file again, so that two prompts of one process exclude each other too.
///
/// On a full or read-only disk the file may not be there and cannot be made. The lock is then one on the directory itself, which
/// all terminals share, and there is no record.
struct TerminalLock: ~Copyable {
  private let name: String
  private var file: Int32 = -1

  /// The lock of `terminal`, not yet taken.
  init(of terminal: Int32) throws(TerminalError) {
    // The device number of /dev/tty itself is the same for every terminal.
    var device: UInt32 = 0
    guard unsafe ioctl(terminal, Self.getDevice, &device) == 0 else { throw .noTerminal(errno) }
    let (major, minor) = (clinux_device_major(UInt64(device)), clinux_device_minor(UInt64(device)))
    name = "tty-\(major)-\(minor)"
  }

  deinit { if file >= 0 { close(file) } }

  /// - Returns: False while another prompt holds it.
  /// - Throws: ``TerminalError/noLock(_:)``.
  mutating func take() throws(TerminalError) -> Bool {
    release()
    let (folder, takesFiles) = try LockDirectory.open()
    defer { close(folder) }
    let (opened, name) = takesFiles ? try openFile(in: folder) : (try openDirectory(folder), ".")
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      let problem = errno
      close(opened)
      guard problem == EWOULDBLOCK || problem == EINTR else { throw refusal(problem) }
      return false
    }
    // Logging out removes /run/user/UID. The locked file must still be the file that the next prompt opens.
    guard isNamed(opened, name, in: folder) else {
      close(opened)
      return false
    }
    file = opened
    return true
  }

  mutating func release() {
    if file >= 0 { close(file) }
    file = -1
  }

  /// The record that a killed prompt left; nil after an orderly end.
  borrowing func record() -> TerminalRecord? {
    var bytes = [UInt8](repeating: 0, count: TerminalRecord.byteCount + 1)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
    return count > 0 ? TerminalRecord(Array(bytes.prefix(count))) : nil
  }

  /// Writes the record that a killed prompt leaves. On a full disk there is none: the next prompt then restores no mode.
  ///
  /// - Throws: ``TerminalError/noLock(_:)``.
  borrowing func write(_ record: TerminalRecord) throws(TerminalError) {
    let bytes = record.bytes
    guard !isDirectory else { return }
    let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count else {
      let problem = count < 0 ? errno : ENOSPC
      empty()
      guard Self.isLackOfRoom(problem) else { throw refusal(problem) }
      return
    }
  }

  borrowing func empty() { _ = ftruncate(file, 0) }

  /// Whether an `errno` says that nothing can be written because of the disk, a quota or a limit.
  static func isLackOfRoom(_ problem: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG, EROFS].contains(problem) }

  private borrowing func openDirectory(_ folder: Int32) throws(TerminalError) -> Int32 {
    let opened = unsafe clinux_create(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard opened >= 0 else { throw refusal(errno) }
    return opened
  }

  /// The file, made where it is missing; the directory where it cannot be made for lack of room.
  private borrowing func openFile(in folder: Int32) throws(TerminalError) -> (opened: Int32, name: String) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let opened = unsafe clinux_create(folder, name, flags, 0o600)
    guard opened >= 0 else {
      let problem = errno
      guard Self.isLackOfRoom(problem) else { throw refusal(problem) }
      return (try openDirectory(folder), ".")
    }
    var about = stat()
    guard unsafe fstat(opened, &about) == 0, about.st_mode & S_IFMT == S_IFREG, about.st_uid == geteuid()
    else {
      close(opened)
      throw refusal(EPERM)
    }
    // What is written into a file with a second name is written into that one too.
    guard about.st_nlink <= 1 else {
      close(opened)
      throw refusal(EMLINK)
    }
    return (opened, name)
  }

  /// Whether what is locked is the directory.
  private var isDirectory: Bool {
    var about = stat()
    return unsafe fstat(file, &about) == 0 && about.st_mode & S_IFMT == S_IFDIR
  }

  private borrowing func isNamed(_ opened: Int32, _ name: String, in folder: Int32) -> Bool {
    var (about, named) = (stat(), stat())
    guard unsafe fstat(opened, &about) == 0, unsafe fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
    else { return false }
    return named.st_ino == about.st_ino && named.st_dev == about.st_dev
  }

  private borrowing func refusal(_ problem: Int32) -> TerminalError {
    .noLock("\(name): \(unsafe String(cString: strerror(problem)))")
  }

  /// TIOCGDEV, a macro that Swift does not see.
  private static let getDevice: UInt = 0x8004_5432
}
