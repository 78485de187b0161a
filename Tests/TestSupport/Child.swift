import CLinux
package import Foundation
import Synchronization

/// How tests start programs: a process with chosen descriptors, by `posix_spawn`.
///
/// A descriptor that is not chosen is closed in it, 0, 1 and 2 excepted. It ends with the test at the latest: when its ``Running`` goes,
/// or, where something else keeps that, when the runner ends what a test process has left (docs/testing.md).
package struct Child {
  /// With a slash, a path; else a name that is looked for along `PATH`.
  private let path: String
  private let words: [String]
  private let environment: [String: String]
  private var files: [(descriptor: Int32, path: String, flags: Int32)] = []
  private var copies: [(descriptor: Int32, from: Int32)] = []
  private var closed: [Int32] = []
  /// Leads a session of its own; the first terminal it opens becomes its controlling one.
  package var leadsSession = false
  /// Where it starts; `nil`: where the test is.
  package var directory: String?

  package init(_ path: String, _ words: [String], _ environment: [String: String]) {
    self.path = path
    self.words = words
    self.environment = environment
  }

  package mutating func open(_ descriptor: Int32, _ path: String, flags: Int32 = O_RDONLY) {
    files.append((descriptor, path, flags))
  }

  package mutating func create(_ descriptor: Int32, _ path: String) {
    files.append((descriptor, path, O_WRONLY | O_CREAT | O_TRUNC))
  }

  /// Gives the process a descriptor of the test.
  package mutating func copy(_ from: Int32, to descriptor: Int32) { copies.append((descriptor, from)) }

  package mutating func close(_ descriptor: Int32) { closed.append(descriptor) }

  package func start() throws -> Running {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    try unsafe setDescriptors(&actions)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    setSignals(&attributes)
    var pid: pid_t = 0
    let result = unsafe withCStrings([path] + words) { arguments in
      unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
        unsafe posix_spawnp(&pid, path, &actions, &attributes, arguments, variables)
      }
    }
    guard result == 0 else { throw CannotStart(program: path, code: result) }
    return Running(pid: pid)
  }

  private func setDescriptors(_ actions: inout posix_spawn_file_actions_t) throws {
    if let directory { _ = unsafe Self.addDirectory(&actions, directory) }
    for file in files {
      unsafe posix_spawn_file_actions_addopen(&actions, file.descriptor, file.path, file.flags, 0o600)
    }
    for copy in copies { unsafe posix_spawn_file_actions_adddup2(&actions, copy.from, copy.descriptor) }
    for descriptor in closed { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
    let chosen = Set(files.map(\.descriptor) + copies.map(\.descriptor))
    let first = max(chosen.max() ?? 0, 2) + 1
    for descriptor in Int32(3)..<first where !chosen.contains(descriptor) {
      unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    _ = unsafe Self.addCloseFrom(&actions, first)
  }

  /// The Glibc module lacks both.
  private static let addDirectory = unsafe unsafeBitCast(
    dlsym(nil, "posix_spawn_file_actions_addchdir_np")!,
    to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32)
      .self)
  private static let addCloseFrom = unsafe unsafeBitCast(
    dlsym(nil, "posix_spawn_file_actions_addclosefrom_np")!,
    to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)

  private func setSignals(_ attributes: inout posix_spawnattr_t) {
    // Threads of the test library block signals, and a child would inherit that.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    // And the program that started the tests may ignore some, as `nohup`, a job in the background and `perf record` do.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2] { unsafe sigaddset(&signals, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(&attributes, Self.setSignals | (leadsSession ? Self.setSession : 0))
  }

  private static let setSignals = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
  /// POSIX_SPAWN_SETSID, a macro that Swift does not see.
  private static let setSession: Int16 = 0x80

  package struct CannotStart: Error {
    package let program: String
    package let code: Int32
  }

  private func withCStrings<R>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> R
  ) rethrows -> R {
    let pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return try unsafe body(pointers)
  }
}

extension Child {
  /// A started process, which is killed when nothing holds this any more.
  package final class Running: Sendable {
    package let pid: pid_t
    /// As `waitpid` gave it; `nil` while nothing has waited for the end.
    private let ending = Mutex<Int32?>(nil)

    fileprivate init(pid: pid_t) { self.pid = pid }

    deinit { end() }

    /// The exit code, or minus the signal that ended it.
    @discardableResult
    package func wait() throws -> Int32 {
      // Without taking the status, so that another thread may still send a signal to this process and to no other.
      var about = unsafe siginfo_t()
      while unsafe waitid(P_PID, id_t(pid), &about, WEXITED | WNOWAIT) < 0 {
        if errno == ECHILD, isReaped { break }
        guard errno == EINTR else { throw CannotStart(program: "\(pid)", code: errno) }
      }
      return reap()
    }

    /// Whether it has not ended.
    package var isRunning: Bool {
      ending.withLock { ending in
        var about = unsafe siginfo_t()
        guard ending == nil else { return false }
        return unsafe waitid(P_PID, id_t(pid), &about, WEXITED | WNOWAIT | WNOHANG) == 0
          && about.si_signo == 0
      }
    }

    /// Whether the kernel wrote a core dump; known after ``wait()``.
    package var hasCore: Bool { ending.withLock { ($0 ?? 0) & 0x80 != 0 } }

    /// Nothing is sent to a process that has been waited for.
    package func kill(_ signal: Int32 = SIGKILL) {
      ending.withLock { if $0 == nil { _ = Glibc.kill(pid, signal) } }
    }

    /// Ends it, whatever it does, and waits for that.
    package func end() {
      kill(SIGKILL)
      _ = reap()
    }

    private var isReaped: Bool { ending.withLock { $0 != nil } }

    private func reap() -> Int32 {
      ending.withLock { ending in
        var status = ending ?? 0
        if ending == nil { while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {} }
        ending = status
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
      }
    }
  }
}
