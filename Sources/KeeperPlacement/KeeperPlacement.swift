import AgentMessages
import CLinux
import Glibc
import SecretMemory
import TrustedPaths

/// The keeper's place on a machine: what only root can give it. `vault-keeper` is this and nothing else.
///
/// The keeper is `vaultd` under a user id of its own, one for each person (docs/decisions/0051). Root makes its directories and its socket,
/// gives up all rights, and becomes `vaultd`. So no program that holds keys runs as root, and none that runs as root reads what a person
/// sends.
///
/// What leaves the keeper in a form that opens elsewhere, and what makes or replaces its vault, is done by a person who may become root:
/// `vault-keeper run PERSON -- VERB` becomes `vaultctl` under the keeper's user id.
///
/// One process of root stays beside each keeper: ``KeeperLogins``, which has PAM verify the login of that person, and has no keys.
///
/// Read ``KeeperAccounts`` first, then ``KeeperDirectories``, ``KeeperTerminal``, ``KeeperLogins``, and ``KeeperStart`` last.
package enum KeeperPlacement {
  package static func main() -> Never {
    ProcessHardening.apply()
    umask(0o077)
    let words = (1..<max(1, clinux_argument_count())).map { index in
      unsafe clinux_argument(index).flatMap { unsafe String(validatingCString: $0) } ?? "\u{FFFD}"
    }
    do throws(KeeperError) { try run(words) } catch {
      if error == .help {
        write(usage + "\n", to: 1)
        _exit(0)
      }
      let text = error == .usage ? usage : "vault-keeper: " + error.text
      write(text + "\n", to: 2)
      _exit(error == .usage ? 2 : 1)
    }
  }

  /// `docs/man/vault-keeper.8` explains the same.
  private static let usage = """
    usage: vault-keeper start PERSON [ASKING]   become the keeper of a person, by name or user id; it ends by a signal
           vault-keeper run PERSON -- WORDS     become 'vaultctl WORDS' in the place of the keeper: init, backup, passcode …
           vault-keeper --help
    ASKING: --ask client                        questions appear where the command runs (default)
            --ask finger                        the same, but a yes is a finger of the person
            --ask terminal --terminal PATH      questions appear on that terminal, which becomes the keeper's alone
    Only root starts it. scripts/install-keeper makes the account that it needs.
    """

  private static func run(_ words: [String]) throws(KeeperError) -> Never {
    switch words.first {
    case "--help", "-h": throw .help
    case "start" where words.count > 1:
      guard let asking = KeeperAsking(Array(words.dropFirst(2))) else { throw .usage }
      try KeeperStart(for: words[1]).becomeKeeper(asking: asking)
    case let word? where words.count == 1 && word.hasPrefix(KeeperLogins.word):
      try KeeperLogins.serve(person: String(word.dropFirst(KeeperLogins.word.count)))
    case "run" where words.count > 3 && words[2] == "--":
      try KeeperStart(for: words[1]).become(running: Array(words.dropFirst(3)))
    default: throw .usage
    }
  }

  private static func write(_ text: String, to descriptor: Int32) {
    _ = unsafe Glibc.write(descriptor, text, text.utf8.count)
  }
}

/// Why there is no keeper.
enum KeeperError: Error, Equatable {
  case help
  case usage
  case notRoot
  /// There is no account with this name or number.
  case noPerson(String)
  /// Root reads each state anyway.
  case personIsRoot
  /// The account of the keeper is missing.
  case noAccount(String, person: UInt32)
  /// The account of the keeper has the number of another one.
  case sharedAccount(String, with: String)
  /// A directory or a file is not as root and the keeper make it.
  case unsafe(String, why: String)
  /// The state was made for another person, who had the number before.
  case otherPerson(String, state: String, of: String)
  case isRunning
  /// A move of the vault was interrupted.
  case isMoving(String)
  /// The terminal would not be the keeper's alone.
  case terminal(String, why: String)
  case program(String, why: String)
  case system(String, Int32)

  /// One line: what is wrong, then what to do.
  var text: String {
    switch self {
    case .help, .usage: ""
    case .notRoot: "only root can start a keeper; try sudo"
    case .noPerson(let word): "there is no user '\(word)' on this machine"
    case .personIsRoot: "root has no keeper: nothing is kept from root"
    case .noAccount(let name, let person):
      "the account '\(name)' of the keeper is missing; make it with: scripts/install-keeper \(person)"
    case .sharedAccount(let name, let other):
      "the account '\(name)' has the user id of '\(other)', who could read the keeper's state; give it one of its own"
    case .unsafe(let path, let why): "\(path) \(why); nothing was started"
    case .otherPerson(let name, let state, let owner):
      "\(state) was made for '\(owner)', and its user id is that of '\(name)' now; move the state away first"
    case .isMoving(let name):
      "the vault is on its way into the keeper or out of it; \(name) ends that with 'vaultctl keeper status', or decide it: "
        + "vault-keeper run \(name) -- keeper settle person|keeper"
    case .isRunning: "a keeper of this person is running already"
    case .terminal(let path, let why):
      "\(path) \(why); nothing was started. Name a terminal of root's on which nobody logs in"
    case .program(let path, let why): "\(path) \(why), so it is not started"
    case .system(let doing, let code): unsafe "\(doing): \(String(cString: strerror(code)))"
    }
  }
}
