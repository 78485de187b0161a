import Foundation
import VaultStorage

/// Processes forked off the test, as a program could do it: without `exec`. For exit tests alone, where no other
/// test holds a lock at that moment.
enum Child {
  /// Starts a child that ends with what `body` returns.
  static func start(_ body: () -> Int32) -> pid_t {
    // Swift hides `fork`, for good reasons; these tests are about what happens all the same.
    let fork = unsafe unsafeBitCast(dlsym(nil, "fork")!, to: (@convention(c) () -> pid_t).self)
    let child = fork()
    precondition(child >= 0, "no fork")
    if child == 0 {
      for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] { signal(number, SIG_DFL) }
      alarm(60)
      _exit(body())
    }
    return child
  }

  /// The exit code, or minus the signal.
  static func wait(_ child: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 { precondition(errno == EINTR, "no child") }
    return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
  }

  static func run(_ body: () -> Int32) -> Int32 { wait(start(body)) }

  /// A child that begins only when it is told to. Started before the test opens a store: a child of a process that
  /// has one open may not.
  struct Partner {
    fileprivate let child: pid_t
    fileprivate let starter: Int32

    func run() -> Int32 {
      // A byte, not the end of the pipe: a later partner holds that end too.
      var byte: UInt8 = 1
      _ = unsafe write(starter, &byte, 1)
      close(starter)
      return Child.wait(child)
    }
  }

  static func partner(_ body: () -> Int32) -> Partner {
    var ends: [Int32] = [0, 0]
    precondition(unsafe pipe(&ends) == 0, "no pipe")
    let child = start {
      close(ends[1])
      var byte: UInt8 = 0
      _ = unsafe read(ends[0], &byte, 1)
      return body()
    }
    close(ends[0])
    return Partner(child: child, starter: ends[1])
  }

  /// 0 when `body` throws `error`, 1 when nothing, 2 when another one.
  static func expect(_ error: StorageError, _ body: () throws -> Void) -> Int32 {
    do { try body() } catch let thrown {
      if thrown as? StorageError == error { return 0 }
      say("\(thrown) instead of \(error)")
      return 2
    }
    return 1
  }
}

/// Ends the process of an exit test, telling why, unless `condition` holds.
func require(_ condition: Bool, _ what: @autoclosure () -> String, line: Int = #line) {
  if condition { return }
  say("line \(line): \(what())")
  exit(1)
}

/// Prints a line to the standard error of the test run: that of an exit test's own process is not shown.
func say(_ line: String) {
  errorOutput.write(Data((line + "\n").utf8))
}

/// Opened before a test gives up the right to.
let errorOutput = FileHandle(forWritingAtPath: "/proc/\(getppid())/fd/2") ?? .standardError
