import CLinux
import Glibc

/// Where the keeper of one person is: the agent under a user id of its own, which only root can give it (docs/decisions/0051).
///
/// Root makes the directories and the socket. The kernel then decides who reaches what: the socket can be opened by the person, the state
/// by the keeper. So both ends believe a path here because root alone could have made it, and not because of what it says.
package struct KeeperPlace: Sendable, Equatable {
  /// The user id of the person.
  package let person: UInt32
  /// The directory that has one directory for each person, for sockets.
  private let sockets: String
  /// The same for states.
  private let states: String

  package init(of person: UInt32, sockets: String = "/run/vaultd", states: String = "/var/lib/vaultd") {
    (self.person, self.sockets, self.states) = (person, sockets, states)
  }

  /// The place whose state is in a directory, as root names it to the keeper; nil for any other directory.
  package init?(state: String) {
    guard let slash = state.lastIndex(of: "/"), let person = UInt32(state[state.index(after: slash)...])
    else {
      return nil
    }
    self.init(of: person, states: String(state[..<slash]))
  }

  /// What `--vault` names the vault in the keeper with.
  package static let word = "keeper:"

  /// The directories that root makes. Everybody may pass through them; only root may change them.
  package var open: [String] { [sockets, "\(sockets)/\(person)", states] }
  package var socket: String { "\(sockets)/\(person)/socket" }
  /// Locked by the keeper that runs.
  package var lock: String { "\(sockets)/\(person)/lock" }
  /// The home directory of the keeper: vault, device key and witness. Only the keeper can look into it.
  package var state: String { "\(states)/\(person)" }
  /// The name of the person for whom the state was made: the number can be given to somebody else later.
  package var name: String { "\(states)/\(person).name" }
  /// The vault, at the standard place below the state.
  package var vault: String { vaults + "/default.vault" }
  /// The directory of that vault.
  package var vaults: String { state + "/.local/share/vaultctl" }

  /// Where the device key of the vault is: the standard place below the state.
  package var keys: String { state + "/.local/state/vaultctl" }
  /// What is on its way into the keeper or out of it.
  package var moving: String { state + "/moving" }
  /// Says that a vault is on its way, and where the person's side has it.
  package var moveNote: String { moving + "/note" }
  /// The vaults that have left the keeper. Nothing opens them there; root destroys them.
  package var left: String { state + "/left" }

  /// Why nothing uses the socket.
  package enum Flaw: Error, Equatable, Sendable {
    /// There is no socket.
    case isAbsent
    /// Nothing listens there: the keeper has ended.
    case isDead
    /// Others than root could have put it there.
    case isForeign(String)
    /// The system call failed with this error number.
    case failed(String, Int32)
  }

  /// How many seconds a command waits while many others connect at the same time.
  private static let patience: Int32 = 5

  /// A connection to the keeper.
  package func connect() throws(Flaw) -> AgentSocket {
    for directory in open.dropLast() { try Self.check(directory) }
    var about = stat()
    guard unsafe lstat(socket, &about) == 0 else {
      throw errno == ENOENT ? .isAbsent : .failed(socket, errno)
    }
    guard about.st_mode & S_IFMT == S_IFSOCK, about.st_uid == person else { throw .isForeign(socket) }
    let descriptor = unsafe clinux_connect_packets(socket, Self.patience)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: throw .isAbsent
      case ECONNREFUSED: throw .isDead
      case let code: throw .failed(socket, code)
      }
    }
    return AgentSocket(owning: descriptor)
  }

  /// Whether root alone decides what is in a directory.
  private static func check(_ directory: String) throws(Flaw) {
    var about = stat()
    guard unsafe lstat(directory, &about) == 0 else {
      throw errno == ENOENT ? .isAbsent : .failed(directory, errno)
    }
    guard about.st_mode & S_IFMT == S_IFDIR, about.st_uid == 0, about.st_mode & 0o022 == 0 else {
      throw .isForeign(directory)
    }
  }
}
