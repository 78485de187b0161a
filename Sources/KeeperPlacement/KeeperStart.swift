import AgentMessages
import CLinux
import Glibc
import TrustedPaths

/// Becomes a program under the user id of the keeper.
struct KeeperStart {
  private let accounts: KeeperAccounts
  private let directories: KeeperDirectories

  /// - Parameter person: The name of the person, or the number.
  init(for person: String) throws(KeeperError) {
    guard geteuid() == 0 else { throw .notRoot }
    accounts = try KeeperAccounts(of: person)
    directories = KeeperDirectories(for: accounts)
    try directories.make()
  }

  /// Becomes `vaultd`, with the socket as the service manager would pass it.
  func becomeKeeper(asking: KeeperAsking) throws(KeeperError) -> Never {
    let lock = try directories.lock()
    try asking.terminal?.give(to: accounts.keeper)
    let socket = try directories.listen()
    try become(
      "vaultd", ["--keeper", "\(accounts.person.user)"] + asking.arguments,
      ["LISTEN_FDS=1", "LISTEN_PID=\(getpid())"], keeping: [socket, lock])
  }

  /// Becomes `vaultctl`, in the terminal of the person who is root.
  func become(running words: [String]) throws(KeeperError) -> Never {
    // Until one side is known to have the vault, nothing is done to either file.
    let note = directories.place.moveNote
    if words.prefix(2) != ["keeper", "settle"], unsafe access(note, F_OK) == 0 || errno != ENOENT {
      throw .isMoving(accounts.person.name)
    }
    try become("vaultctl", words, ["VAULTCTL_AGENT=never"], keeping: [])
  }

  private func become(
    _ name: String, _ words: [String], _ variables: [String], keeping descriptors: [Int32]
  ) throws(KeeperError) -> Never {
    let program = try program(name)
    guard unsafe chdir("/") == 0 else { throw .system("changing to /", errno) }
    let logins = try KeeperLogins.begin(for: accounts.person)
    // Where nothing is kept in particular, everything stays, and so does this one.
    if descriptors.isEmpty { _ = fcntl(logins, F_SETFD, 0) }
    let kept = descriptors.isEmpty ? [] : descriptors + [logins]
    let number = descriptors.isEmpty ? logins : 2 + Int32(kept.count)
    let words = unsafe ([name] + words).map { unsafe strdup($0) } + [nil]
    let environment =
      unsafe (self.variables + variables + ["VAULTD_LOGINS=\(number)"]).map { unsafe strdup($0) } + [nil]
    _ = unsafe clinux_become_user(
      accounts.keeper.user, accounts.keeper.group, program.descriptor, words, environment, kept,
      Int32(kept.count))
    throw .system("becoming \(program.path) as \(accounts.keeper.name)", errno)
  }

  /// All that the program gets of the environment.
  private var variables: [String] {
    let passed = ["TERM", "NO_COLOR", "NOTIFY_SOCKET", "LANG"].compactMap { name in
      unsafe getenv(name).map { unsafe name + "=" + String(cString: $0) }
    }
    return passed + [
      "HOME=\(directories.place.state)", "PATH=/usr/bin:/bin", "VAULTD_PERSON=\(accounts.person.name)",
    ]
  }

  private func program(_ name: String) throws(KeeperError) -> TrustedProgram {
    guard let path = TrustedProgram.path(beside: name) else {
      throw .system("finding the directory of this program", errno)
    }
    do throws(TrustedProgram.Flaw) { return try TrustedProgram(path) } catch {
      switch error {
      case .missing: throw .program(path, why: "is missing")
      case .closed(let code): throw .system("opening \(path)", code)
      case .notAProgram: throw .program(path, why: "is not a program")
      case .foreignOwner: throw .program(path, why: "does not belong to root")
      case .changeableByOthers: throw .program(path, why: "can be changed by others")
      case .replaceable(let flaw):
        throw .program(path, why: "can be replaced by others, who can write to \(flaw.part)")
      }
    }
  }
}
