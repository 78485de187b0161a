import CLinux
import Glibc
import VaultKit

/// A started pinentry: its two pipes, and its end. It is waited for whatever happens, so no zombie stays.
struct PinentryProcess: ~Copyable {
  let input: Int32
  let output: Int32
  private let pid: pid_t
  /// How long it may take to go by itself. One that is at its question when the pipes close would not notice.
  private var grace = Duration.milliseconds(20)

  /// Starts it with the two pipes, nothing on standard error, no other descriptor, and no signal ignored or blocked.
  init(_ pinentry: Pinentry) throws(VaultError) {
    var toChild: [Int32] = [-1, -1]
    var fromChild: [Int32] = [-1, -1]
    guard unsafe pipe(&toChild) == 0, unsafe pipe(&fromChild) == 0 else {
      let code = errno
      for end in toChild where end >= 0 { close(end) }
      throw VaultError(.io, "no pipe for pinentry", underlying: code)
    }
    // The child gets copies; other programs that are started meanwhile must get none.
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
        hint: "set VAULT_PINENTRY to the path of one that does", underlying: result)
    }
    self.pid = pid
    input = toChild[1]
    output = fromChild[0]
    for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  /// It was told to go, and has something to tidy up.
  mutating func letGo() { grace = .milliseconds(500) }

  /// Closes the pipes, then waits: a while for it to go by itself, then with SIGTERM, then with SIGKILL.
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
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    unsafe clinux_spawn_close_from(&actions, 3)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var pid: pid_t = 0
    let result = unsafe withCStrings([pinentry.path]) { words in
      unsafe withCStrings(pinentry.environment) { variables in
        unsafe posix_spawn(&pid, pinentry.path, &actions, &attributes, words, variables)
      }
    }
    return (result, pid)
  }

  private static func withCStrings<R>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
  ) -> R {
    let pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(pointers)
  }
}
