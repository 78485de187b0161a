import CLinux
import Glibc

/// A terminal that root gives to a keeper, so that the keeper asks there and nobody else reads or answers.
///
/// A program that has it open already would keep it. So root hangs it up first: from then on, only who opens it anew has it, and that is
/// decided by owner and mode. The kernel refuses this for a terminal that controls a session, where somebody has logged in or can do so.
struct KeeperTerminal {
  let path: String

  /// - Throws: ``KeeperError/terminal(_:why:)``.
  func give(to keeper: KeeperAccounts.Account) throws(KeeperError) {
    try checkPath()
    let number = try hangUp(for: keeper) { _ throws(KeeperError) in }
    let given = try hangUp(for: keeper) { terminal throws(KeeperError) in
      // Not for its group: that of terminals lets others write there.
      guard fchown(terminal, keeper.user, keeper.group) == 0, fchmod(terminal, 0o600) == 0
      else { throw .system("giving \(path) to the keeper", errno) }
    }
    guard number == given else { throw flaw("became another terminal meanwhile") }
  }

  /// Hangs it up. The second time, it takes the terminal also from who opened it by its old mode after the first time.
  ///
  /// - Parameter prepare: What is done before.
  /// - Returns: The number of the terminal.
  private func hangUp(
    for keeper: KeeperAccounts.Account, after prepare: (Int32) throws(KeeperError) -> Void
  ) throws(KeeperError) -> UInt64 {
    let terminal = try open(for: keeper)
    defer { close(terminal.descriptor) }
    try prepare(terminal.descriptor)
    guard clinux_hang_up(terminal.descriptor) == 0 else {
      throw errno == EBUSY
        ? flaw("belongs to a session: somebody is logged in there, or a login waits there")
        : .system("hanging up \(path)", errno)
    }
    return terminal.number
  }

  /// - Returns: A descriptor, for the caller to close, and the number of the terminal.
  private func open(
    for keeper: KeeperAccounts.Account
  ) throws(KeeperError) -> (descriptor: Int32, number: UInt64) {
    let descriptor = unsafe Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: throw flaw("is missing")
      case ELOOP: throw flaw("is a link; name the terminal itself")
      case let code: throw .system("opening \(path)", code)
      }
    }
    do throws(KeeperError) { return (descriptor, try number(of: descriptor, for: keeper)) } catch {
      close(descriptor)
      throw error
    }
  }

  private func number(
    of descriptor: Int32, for keeper: KeeperAccounts.Account
  ) throws(KeeperError) -> UInt64 {
    var about = stat()
    var number: UInt64 = 0
    guard unsafe fstat(descriptor, &about) == 0 else { throw .system("looking at \(path)", errno) }
    guard about.st_mode & S_IFMT == S_IFCHR, isatty(descriptor) == 1,
      unsafe clinux_terminal_number(descriptor, &number) == 0
    else { throw flaw("is no terminal") }
    guard number == UInt64(about.st_rdev) else {
      throw flaw("leads to another terminal each time; name that one")
    }
    guard about.st_uid == 0 || about.st_uid == keeper.user else {
      throw flaw("belongs to user \(about.st_uid), whose programs could answer there")
    }
    return number
  }

  /// Only root decides what has the path.
  private func checkPath() throws(KeeperError) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    guard path.hasPrefix("/dev/"), !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
      throw flaw("is no path of a terminal, such as /dev/tty8")
    }
    var directory = ""
    for part in parts.dropLast() {
      directory += "/" + part
      var about = stat()
      guard unsafe lstat(directory, &about) == 0 else {
        throw errno == ENOENT ? flaw("is missing") : .system("looking at \(directory)", errno)
      }
      guard about.st_mode & S_IFMT == S_IFDIR, about.st_uid == 0, about.st_mode & 0o022 == 0 else {
        throw flaw("is in \(directory), which others than root can change")
      }
    }
  }

  private func flaw(_ why: String) -> KeeperError { .terminal(path, why: why) }
}
