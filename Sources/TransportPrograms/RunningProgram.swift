import CLinux
import Glibc
import SecretMemory
import VaultKit

/// A running transport and the pipes to it. The value ends the program and what it started, unless the program has ended as
/// it should, and waits for it: no zombie remains.
struct RunningProgram: ~Copyable {
  private let path: String
  private let pid: pid_t
  private let limits: TransportProgram.Limits
  private let deadline: ContinuousClock.Instant
  /// The ends of the program's standard input. This process also keeps the end that the program reads, so that writing never
  /// finds a pipe without a reader.
  private let (input, kept): (Int32, Int32)
  private let output: Int32
  private var isInputOpen = true
  private var end: End?
  /// Microseconds.
  private var pause: UInt32 = 250

  /// How the program ended.
  private enum End {
    case code(Int32)
    case signal(Int32)
    /// It is not known: the host program lets the kernel reap its children.
    case unknown
  }

  /// Starts the program. It gets nothing of this process but its environment and the pipes.
  init(_ file: borrowing ProgramFile, _ limits: TransportProgram.Limits) throws(VaultError) {
    deadline = limits.now() + limits.time
    var (toProgram, fromProgram): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard unsafe clinux_pipe(&toProgram) == 0, unsafe clinux_pipe(&fromProgram) == 0 else {
      let code = errno
      for end in toProgram where end >= 0 { close(end) }
      throw .transport(file.path, "cannot be started: no pipe", underlying: code)
    }
    var pid: pid_t = -1
    let problem = unsafe clinux_spawn_bound_file(
      &pid, file.descriptor, file.path, toProgram[0], fromProgram[1])
    close(fromProgram[1])
    guard problem == 0 else {
      for end in toProgram + [fromProgram[0]] { close(end) }
      let isScript = problem == ENOEXEC || problem == ENOENT
      throw .transport(
        file.path, "does not start\(Self.reason(problem))",
        hint: isScript ? "a script names its interpreter in its first line, like #!/bin/sh" : nil,
        underlying: problem
      ).final()
    }
    (path, self.pid, self.limits) = (file.path, pid, limits)
    (kept, input, output) = (toProgram[0], toProgram[1], fromProgram[0])
    for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  deinit {
    if isInputOpen { close(input) }
    close(kept)
    close(output)
    // Not waited for yet, so the number of the process and its group is still its own.
    if !isReaped, !hasSucceeded { kill(-pid, SIGKILL) }
    clinux_forget_bound_group(pid)
    guard !isReaped else { return }
    let limit = ContinuousClock.now + .seconds(2)
    while waitpid(pid, nil, WNOHANG) == 0, ContinuousClock.now < limit { usleep(500) }
  }

  /// Hands the program the request, and gathers what it writes until it has ended.
  ///
  /// - Parameter ending: Ends when the answer is no longer wanted.
  mutating func answer(
    to request: SharedSecret, until ending: PromptEnding
  ) throws(VaultError) -> SecretBytes {
    var answer = AnswerText(limit: limits.byteCount)
    var offset = 0
    while true {
      lookForEnd()
      if isInputOpen { write(request, from: &offset) }
      guard !answer.read(from: output) else {
        throw .transport(path, "wrote more than \(limits.byteCount) bytes").final()
      }
      guard end == nil else { break }
      guard !ending.isEnded else {
        throw VaultError(.appCancelled, "the answer of the transport is no longer wanted")
      }
      guard limits.now() < deadline else {
        throw .transport(
          path, "gave no answer within \(limits.time.components.seconds) seconds, and was ended")
      }
      wait(hasOutput: !answer.isAtEnd)
    }
    try checkEnd()
    return answer.copy()
  }

  private var isReaped: Bool { if case .unknown = end { true } else { false } }
  private var hasSucceeded: Bool { if case .code(0) = end { true } else { false } }

  private func checkEnd() throws(VaultError) {
    switch end {
    case .code(0), .unknown, nil: return
    case .code(let code): throw .transport(path, "ended with exit code \(code)")
    case .signal(let signal): throw .transport(path, "was ended by signal \(signal)")
    }
  }

  /// Looks whether the program has ended, and leaves it to be waited for: until then nothing else has its number.
  private mutating func lookForEnd() {
    var info = unsafe siginfo_t()
    guard unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else {
      if errno == ECHILD { end = .unknown }
      return
    }
    guard unsafe info.si_signo == SIGCHLD else { return }
    let status = unsafe info._sifields._sigchld.si_status
    end = unsafe info.si_code == Int32(CLD_EXITED) ? .code(status) : .signal(status)
  }

  /// Writes what there is room for, and closes the pipe after the last byte.
  private mutating func write(_ request: SharedSecret, from offset: inout Int) {
    let written = request.expose { all in
      unsafe all.extracting(offset..<all.byteCount).withUnsafeBytes {
        unsafe Glibc.write(input, $0.baseAddress, $0.count)
      }
    }
    offset += max(written, 0)
    guard offset == request.byteCount else { return }
    close(input)
    isInputOpen = false
  }

  /// Waits until there is something to read or room to write, for one turn at most. After the end of its output a program is
  /// about to end, and only time tells.
  private mutating func wait(hasOutput: Bool) {
    guard hasOutput else {
      usleep(pause)
      pause = min(2 * pause, UInt32(Self.turn) * 1000)
      return
    }
    var waits = [
      pollfd(fd: isInputOpen ? input : -1, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: output, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&waits, 2, Self.turn)
  }

  /// Milliseconds after which it is looked whether the program has ended, or the answer is no longer wanted.
  private static let turn: Int32 = 20

  private static func reason(_ code: Int32) -> String {
    switch code {
    case ENOEXEC: ": it is not a program, or does not name an interpreter"
    // It is started by a name in /proc.
    case ENOENT where unsafe access("/proc/self/fd", F_OK) != 0: ": /proc is not mounted"
    case ENOENT: ": its interpreter is missing"
    case EACCES: ": it may not be started"
    case ETXTBSY: ": it is being written"
    default: ""
    }
  }
}
