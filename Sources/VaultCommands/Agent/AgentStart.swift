import CLinux
import CommandLineKit
import Glibc
import TrustedPaths
import VaultPrompts
import VaultWords

/// Starts the agent: the program beside this one, as a process that outlives this command, and waits until it listens.
///
/// Never along PATH, and no option or variable names the program: it gets every passcode that is typed.
package enum AgentStart {
  /// The first argument of the program, before those of ``AgentAsking``: it tells the outcome on descriptor 3, in one of the three forms below, and closes it.
  package static let argument = "--tell-3"
  /// It listens.
  package static let ready = "ready"
  /// Another agent of this user listens.
  package static let isRunning = "running"
  /// It does not begin; the reason follows.
  package static let failed = "failed "

  /// - Parameters:
  ///   - name: The name of the program beside this one.
  ///   - asking: Who shows the prompts of commands.
  /// - Returns: Whether it was started; false where an agent ran already.
  /// - Throws: Exit 15 where there is no such program, 9 where others could have put it there or changed it, 13 where it does not
  ///   begin.
  static func start(_ name: String, asking: AgentAsking) throws(CommandError) -> Bool {
    let program = try program(name)
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { throw .io("making a pipe", errno: errno) }
    defer { close(ends[0]) }
    let words = unsafe ([name, argument] + asking.arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    let started = unsafe clinux_start_detached(program.descriptor, words, ends[1])
    let problem = errno
    close(ends[1])
    guard started == 0 else { throw .io("starting \(printable(program.path))", errno: problem) }
    return try outcome(answer(on: ends[0]))
  }

  private static func program(_ name: String) throws(CommandError) -> TrustedProgram {
    guard let path = TrustedProgram.path(beside: name) else {
      throw CommandError(.io, "the directory of this program cannot be determined", hint: "mount /proc")
    }
    do throws(TrustedProgram.Flaw) { return try TrustedProgram(path) } catch { throw unusable(path, error) }
  }

  private static func unusable(_ path: String, _ flaw: TrustedProgram.Flaw) -> CommandError {
    let path = printable(path)
    switch flaw {
    case .missing:
      return CommandError(
        .unsupported, "there is no agent: \(path) is missing", hint: "install vaultd beside vaultctl",
        code: "noAgent")
    case .closed(let code): return .io("opening \(path)", errno: code)
    case .notAProgram: return refused("\(path) is not a program", "install vaultd beside vaultctl")
    case .foreignOwner:
      return refused("\(path) belongs to another user", "replace it with one that you or root built")
    case .changeableByOthers:
      return refused("\(path) can be changed by others", "run: chmod go-w '\(path)'")
    case .replaceable(let flaw):
      return refused(
        "\(path) can be replaced by others, who own \(printable(flaw.part)) or can write to it",
        "allow only root or yourself to own it and to write to it")
    }
  }

  private static func refused(_ message: String, _ hint: String) -> CommandError {
    CommandError(.refused, "\(message), so it is not started", hint: hint, code: "agentNotTrusted")
  }

  /// What the agent says until it closes the pipe.
  private static func answer(on pipe: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1024)
    while bytes.count < 8192 {
      let count = unsafe read(pipe, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func outcome(_ answer: String) throws(CommandError) -> Bool {
    switch answer {
    case ready: return true
    case isRunning: return false
    case _ where answer.hasPrefix(failed):
      throw CommandError(
        .io, "the agent does not begin: \(String(answer.dropFirst(failed.count)))", code: "agentFailed")
    default:
      throw CommandError(
        .io, "the agent ended before it listened", hint: "start it by hand and read what it says: vaultd",
        code: "agentFailed")
    }
  }
}
