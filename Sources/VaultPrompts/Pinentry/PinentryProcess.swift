import CLinux
import Glibc
import VaultKit

/// A running pinentry and its two pipes. The value waits for its end in any case, so no zombie remains. It ends
/// with the thread that started it: a pinentry that outlived a killed process would read what is typed at the next
/// prompt.
struct PinentryProcess: ~Copyable {
  let input: Int32
  let output: Int32
  private let pid: pid_t
  /// How long it may take to end by itself. A pinentry that shows its question does not notice that the pipes
  /// close.
  private var grace = Duration.milliseconds(20)

  /// Starts the program with the two pipes, nothing on standard error, no other descriptor, and no signal ignored
  /// or blocked.
  init(_ pinentry: Pinentry) throws(VaultError) {
    var toChild: [Int32] = [-1, -1]
    var fromChild: [Int32] = [-1, -1]
    guard unsafe pipe(&toChild) == 0, unsafe pipe(&fromChild) == 0 else {
      let code = errno
      for end in toChild where end >= 0 { close(end) }
      throw VaultError(.io, "no pipe for pinentry", underlying: code)
    }
    // The child gets copies. Other programs that start meanwhile must not get any.
    for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer {
      close(toChild[0])
      close(fromChild[1])
    }
    let (result, pid) = Self.spawn(pinentry, input: toChild[0], output: fromChild[1])
    guard result == 0 else {
      close(toChild[1])
      close(fromChild[0])
      throw VaultError(
        .interactionNotAllowed, "pinentry does not start: \(PromptText.visible(pinentry.path))",
        hint: "set VAULTCTL_PINENTRY to the path of one that starts", underlying: result)
    }
    self.pid = pid
    input = toChild[1]
    output = fromChild[0]
    for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  /// It was told to end, and needs time to tidy up.
  mutating func letGo() { grace = .milliseconds(500) }

  /// Closes the pipes, waits a while for its end, sends SIGTERM, and at last SIGKILL.
  deinit {
    close(input)
    close(output)
    if ChildProcess.hasEnded(pid, within: grace) { return }
    kill(pid, SIGTERM)
    if ChildProcess.hasEnded(pid, within: .milliseconds(500)) { return }
    kill(pid, SIGKILL)
    _ = ChildProcess.hasEnded(pid, within: .seconds(2))
  }

  private static func spawn(_ pinentry: Pinentry, input: Int32, output: Int32) -> (Int32, pid_t) {
    var pid: pid_t = 0
    let result = unsafe withCStrings([pinentry.path]) { words in
      unsafe withCStrings(pinentry.environment) { variables in
        unsafe clinux_spawn_bound(&pid, pinentry.path, words, variables, input, output)
      }
    }
    return (result, pid)
  }

  private static func withCStrings<R>(
    _ texts: [String], body: ([UnsafeMutablePointer<CChar>?]) -> R
  ) -> R {
    let pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(pointers)
  }
}
