import Foundation

/// The lock that a prompt takes on a terminal, as another process meets it.
package struct PromptLock {
  package let path: String

  /// - Parameter state: The state folder, which counts where there is no /run/user/UID.
  package init(of screen: PseudoTerminal, state: String) {
    let own = "/run/user/\(geteuid())"
    path = (Self.isUsable(own) ? own : state + "/vaultctl") + "/tty-136-\(screen.number)"
  }

  /// The lock of a prompt in this process.
  package init(of screen: PseudoTerminal) {
    let variables = ProcessInfo.processInfo.environment
    self.init(of: screen, state: variables["XDG_STATE_HOME"] ?? (variables["HOME"] ?? "") + "/.local/state")
  }

  /// Whether a prompt holds it.
  package var isHeld: Bool {
    guard let file = hold() else { return true }
    close(file)
    return false
  }

  /// What the file holds: a record while a prompt is open.
  package var record: [UInt8] {
    get { Array((try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()) }
    nonmutating set {
      let file = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
      _ = unsafe newValue.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
      close(file)
    }
  }

  /// Takes it, as another prompt would; nil while one holds it. Closing the descriptor releases it.
  package func hold() -> Int32? {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if flock(file, LOCK_EX | LOCK_NB) == 0 { return file }
    close(file)
    return nil
  }

  private static func isUsable(_ folder: String) -> Bool {
    var about = stat()
    return unsafe lstat(folder, &about) == 0 && about.st_uid == geteuid() && about.st_mode & 0o022 == 0
  }
}
