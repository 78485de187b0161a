import Glibc
import VaultKit

/// One thread wakes another: a pipe of our own, for `poll`.
final class WakePipe: Sendable {
  private let reading: Int32
  private let writing: Int32

  init() throws(VaultError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw VaultError(.io, "no pipe to wait on", underlying: errno)
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Whoever waits goes on; so does whoever waits next, when nobody does now.
  func signal() {
    var byte: UInt8 = 0
    _ = unsafe write(writing, &byte, 1)
  }

  /// Waits until somebody signals, or `other` has something to read or is gone. False at the deadline.
  func wait(or other: Int32, until deadline: Deadline) -> Bool {
    while true {
      var waits = [
        pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
        pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      if unsafe poll(&waits, 2, deadline.milliseconds) > 0 {
        var bytes: UInt64 = 0
        while unsafe read(reading, &bytes, 8) == 8 {}
        return true
      }
      if deadline.hasPassed { return false }
    }
  }
}
