import Foundation
import Synchronization

/// A clock that stands still until a test moves it: a limit passes when the test says so, however busy the machine is.
///
/// Code in this process takes ``now`` or ``milliseconds`` in the place of its own clock. A program is started with ``variables()``.
/// It is the clock of limits and pauses alone: `CLOCK_MONOTONIC` and `CLOCK_BOOTTIME`, not the time of day.
package final class HeldClock: Sendable {
  private let start = ContinuousClock.now
  private let state = Mutex((passed: Duration.zero, readings: 0))
  /// What programs see: the nanoseconds that have passed, and how often programs have looked.
  private let file = Mutex<Shared?>(nil)

  package init() {}

  package var now: @Sendable () -> ContinuousClock.Instant { { self.start + self.read() } }

  package var milliseconds: @Sendable () -> UInt64 { { 1_000_000 + UInt64(self.read() / .milliseconds(1)) } }

  private func read() -> Duration {
    state.withLock { state in
      state.readings += 1
      return state.passed
    }
  }

  /// How much time has passed.
  package var passed: Duration { state.withLock { $0.passed } }

  /// How often somebody has looked.
  private var readings: Int { state.withLock { $0.readings } + file.withLock { $0?.readings ?? 0 } }

  /// Moves the clock. The limit of what waits must have been set before: by an event that the test has seen, or see ``pass(_:)``.
  package func advance(by time: Duration) {
    file.withLock { file in
      let passed = state.withLock { state in
        state.passed += time
        return state.passed
      }
      file?.passed = passed
    }
  }

  /// Waits until somebody has looked at the clock so many times more.
  package func awaitReadings(_ count: Int = 8, unless isOver: () -> Bool = { false }) throws {
    let seen = readings
    try waitUntil("a look at the clock") { readings >= seen + count || isOver() }
  }

  /// Moves the clock once what waits has its limit: code that is about to wait looks fewer than eight times before, and then again
  /// and again. What waits looks as often as its limit is long, so a test sets a short one.
  package func pass(_ time: Duration) throws {
    try awaitReadings()
    advance(by: time)
  }

  /// Lets 10 ms pass with each look at the clock, until something is so or `most` has passed.
  ///
  /// - Returns: How much has passed.
  package func run(atMost most: Duration, until isSo: () -> Bool) throws -> Duration {
    let begin = passed
    while !isSo(), passed - begin < most {
      try awaitReadings(1, unless: isSo)
      advance(by: .milliseconds(10))
    }
    return passed - begin
  }

  /// The environment of a program that lives by this clock, and of the programs that it starts.
  package func variables() throws -> [String: String] {
    let library = try Self.library.get()
    return try file.withLock { file in
      let shared = try file ?? Shared(passed: passed)
      file = shared
      return ["LD_PRELOAD": library, "HELD_CLOCK": shared.path]
    }
  }

  /// A file that programs have in their memory.
  private final class Shared: Sendable {
    let path: String
    private let descriptor: Int32

    init(passed: Duration) throws {
      var template = Array("\(FileManager.default.temporaryDirectory.path)/clock-XXXXXX".utf8CString)
      descriptor = unsafe mkstemp(&template)
      path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      guard descriptor >= 0, ftruncate(descriptor, 16) == 0 else { throw CocoaError(.fileWriteUnknown) }
      self.passed = passed
    }

    deinit {
      close(descriptor)
      unsafe unlink(path)
    }

    var passed: Duration {
      get { .nanoseconds(number(at: 0)) }
      set {
        var number = Int64(newValue / .nanoseconds(1))
        _ = unsafe pwrite(descriptor, &number, 8, 0)
      }
    }

    var readings: Int { Int(number(at: 8)) }

    private func number(at offset: off_t) -> Int64 {
      var number: Int64 = 0
      _ = unsafe pread(descriptor, &number, 8, offset)
      return number
    }
  }

  private static let library = Result {
    try SharedLibrary.compile(
      """
      #define _GNU_SOURCE
      #include <fcntl.h>
      #include <stdint.h>
      #include <stdlib.h>
      #include <sys/mman.h>
      #include <sys/syscall.h>
      #include <time.h>
      #include <unistd.h>
      static _Atomic int64_t *held;
      static struct timespec start[CLOCK_BOOTTIME + 1];
      __attribute__((constructor)) static void begin(void) {
        int file = open(getenv("HELD_CLOCK"), O_RDWR | O_CLOEXEC);
        void *page = mmap(0, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (page == MAP_FAILED) abort();
        close(file);
        for (int id = 0; id <= CLOCK_BOOTTIME; id++) syscall(SYS_clock_gettime, id, &start[id]);
        held = page;
      }
      int clock_gettime(clockid_t id, struct timespec *time) {
        if (!held || (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW && id != CLOCK_MONOTONIC_COARSE && id != CLOCK_BOOTTIME))
          return (int)syscall(SYS_clock_gettime, id, time);
        int64_t nanoseconds = start[id].tv_nsec + held[0];
        // Last: who counts the looks knows that this one came before what follows.
        held[1]++;
        *time = (struct timespec){start[id].tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
        return 0;
      }
      """)
  }
}
