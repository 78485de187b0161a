package import Foundation

/// A process with chosen descriptors, by `posix_spawn`: Foundation's `Process` knows only three.
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
    for file in files {
      unsafe posix_spawn_file_actions_addopen(&actions, file.descriptor, file.path, file.flags, 0o600)
    }
    for copy in copies { unsafe posix_spawn_file_actions_adddup2(&actions, copy.from, copy.descriptor) }
    for descriptor in closed { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
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
    var pid: pid_t = 0
    let result = unsafe withCStrings([path] + words) { arguments in
      unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
        unsafe posix_spawnp(&pid, path, &actions, &attributes, arguments, variables)
      }
    }
    guard result == 0 else { throw CannotStart(program: path, code: result) }
    return Running(pid: pid)
  }

  private static let setSignals = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
  /// POSIX_SPAWN_SETSID, a macro that Swift does not see.
  private static let setSession: Int16 = 0x80

  package struct CannotStart: Error {
    package let program: String
    package let code: Int32
  }

  /// A started process.
  package struct Running {
    package let pid: pid_t

    /// The exit code, or minus the signal that ended it.
    package func wait() throws -> Int32 {
      var status: Int32 = 0
      while unsafe waitpid(pid, &status, 0) < 0 {
        guard errno == EINTR else { throw CannotStart(program: "\(pid)", code: errno) }
      }
      return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }
  }

  private func withCStrings<R>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> R
  ) rethrows -> R {
    let pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return try unsafe body(pointers)
  }
}
