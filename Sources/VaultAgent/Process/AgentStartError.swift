package import AgentMessages
import CommandLineKit
import VaultCommands
package import VaultKit
import VaultWords

/// Why the agent does not begin.
package enum AgentStartError: Error, Equatable {
  /// Another agent of this user runs.
  case isRunning
  /// Another agent of this user runs, but no command finds it: its socket has no longer the path.
  case isLost(String)
  /// The service manager gave other descriptors than one socket.
  case wrongSocket
  /// Something else has the name of the socket.
  case occupied(String)
  /// The terminal that is to be asked is none of this user's.
  case notATerminal(String)
  /// There is no directory for the socket.
  case noPlace
  /// A variable is set under its former name.
  case formerVariable(FormerVariable)
  /// Root has not made this process a keeper.
  case notAKeeper
  /// The directory for the socket is not ours alone.
  case unsafePlace(AgentPlace.Flaw)
  /// A call of the system failed.
  case system(_ doing: String, _ code: Int32)

  /// One line for a person: what is wrong, then what to do.
  package var text: String {
    switch self {
    case .isRunning: "an agent is running already; see 'vaultctl agent status'"
    case .isLost(let path):
      "an agent runs whose socket \(printable(path)) was removed; it locks its vaults and ends within a minute: try again then"
    case .wrongSocket:
      "the service manager must pass one listening socket of packets: give the unit ListenSequentialPacket=%t/vaultctl/agent"
    case .occupied(let path):
      "\(printable(path)) is not a socket of an agent of yours; remove it, then start the agent again"
    case .notATerminal(let path):
      "\(printable(path)) is not a terminal of yours; type 'tty' on the terminal that is to be asked, and give its path to --terminal"
    case .noPlace:
      "there is no directory for the socket: set XDG_RUNTIME_DIR to a directory of yours with the mode 0700"
    case .notAKeeper: "only 'vault-keeper start PERSON', as root, can start a keeper"
    case .formerVariable(let former): former.refusal
    case .unsafePlace(let flaw): Self.text(of: flaw)
    case .system(let doing, let code): "\(doing): \(systemMessage(code))"
    }
  }

  /// The exit code of the process: that of `vaultctl` for a variable.
  var exit: Int32 {
    switch self {
    case .isRunning: ExitCode.done.rawValue
    case .formerVariable: ExitCode.usage.rawValue
    default: 1
    }
  }

  private static func text(of flaw: AgentPlace.Flaw) -> String {
    let error = CommandError(flaw)
    return [error.message, error.hint].compactMap(\.self).joined(separator: "; ")
  }
}
