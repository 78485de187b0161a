import Foundation
import TestSupport
import VaultStorage

/// A forked child that begins only when it is told to. It is started before the test opens a store: a child of a process that
/// has one open may not.
struct Partner {
  private let child: ForkedChild
  private let starter: Int32

  init(_ body: () -> Int32) {
    var ends: [Int32] = [0, 0]
    precondition(unsafe pipe(&ends) == 0, "no pipe")
    child = ForkedChild {
      close(ends[1])
      var byte: UInt8 = 0
      _ = unsafe read(ends[0], &byte, 1)
      return body()
    }
    close(ends[0])
    starter = ends[1]
  }

  /// The exit code, or minus the signal.
  func run() -> Int32 {
    // A byte, not the end of the pipe: a later partner holds that end too.
    var byte: UInt8 = 1
    _ = unsafe write(starter, &byte, 1)
    close(starter)
    return child.wait()
  }
}

/// 0 when `body` throws `error`, 1 when nothing, 2 when another one.
func outcome(expecting error: StorageError, _ body: () throws -> Void) -> Int32 {
  do { try body() } catch let thrown {
    if thrown as? StorageError == error { return 0 }
    say("\(thrown) instead of \(error)")
    return 2
  }
  return 1
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

/// Gives up root, for whom no folder is unwritable; `folder` becomes the new user's. For exit tests alone.
func becomeOrdinary(_ folder: TemporaryFolder) {
  _ = errorOutput
  guard geteuid() == 0 else { return }
  folder.setOwner("", 65_534)
  require(setgid(65_534) == 0 && setuid(65_534) == 0, "setuid")
}
