import Glibc
import Testing

/// A process forked off the test, as a program could do it: without `exec`.
enum Child {
  enum Ending: Equatable {
    case exited(Int32)
    case signaled(Int32)
  }

  /// Runs `body` in a child and waits for it; the child exits with what `body` returns.
  static func run(_ body: () -> Int32) throws -> Ending {
    // Swift hides `fork`, for good reasons; these tests are about what happens all the same.
    let symbol = try unsafe #require(dlsym(nil, "fork"))
    let fork = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
    let child = fork()
    try #require(child >= 0)
    if child == 0 {
      for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS] { signal(number, SIG_DFL) }
      close(STDERR_FILENO)
      alarm(120)  // a lock that another thread held at the fork is held for ever here
      _exit(body())
    }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) == -1 { try #require(errno == EINTR) }
    return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signaled(status & 0x7f)
  }
}
