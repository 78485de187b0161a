import Foundation
import Glibc
import TestSupport
import Testing

/// A started process: its output on a pipe, its input on another or on the one that holds many back. It ends with the test.
final class Running: @unchecked Sendable {
  // Used by one thread at a time: the one that started it.
  private let process: Child.Running
  private let output: PipeEnds
  private var rest: [UInt8] = []

  /// Starts a program, which may use 4 GiB of addresses: a process that grows without end fails the test that started it.
  ///
  /// - Parameters:
  ///   - gate: Standard input; nothing to read when absent.
  ///   - errors: Whether standard error goes where standard output goes.
  ///   - errorFile: A new file that standard error goes to in place of that.
  init(
    _ program: String, _ words: [String], environment: [String: String] = [:], gate: Gate? = nil,
    errors: Bool = true, errorFile: String? = nil
  ) throws {
    output = try PipeEnds()
    let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"].merging(environment) { $1 }
    var child = Child(program, words, variables)
    if let gate { child.copy(gate.out, to: 0) } else { child.open(0, "/dev/null") }
    child.copy(output.writer, to: 1)
    if let errorFile {
      child.create(2, errorFile)
    } else if errors {
      child.copy(output.writer, to: 2)
    } else {
      child.open(2, "/dev/null", flags: O_WRONLY)
    }
    process = try child.start()
    output.closeWriting()
    MemoryLimit.set(on: process.pid)
  }

  var pid: pid_t { process.pid }
  var isRunning: Bool { process.isRunning }

  /// The next line of output, or `nil` at its end.
  func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: 10) {
        defer { rest.removeSubrange(...end) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      guard readMore() else { return nil }
    }
  }

  /// All lines of output that are left. A last line without an end was not said.
  func lines() -> [String] {
    while readMore() {}
    let text = rest
    rest = []
    return text.split(separator: 10, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private func readMore() -> Bool {
    let more = output.read()
    rest += more
    return !more.isEmpty
  }

  func kill(_ signal: Int32 = SIGKILL) { process.kill(signal) }

  /// The exit code, or minus the signal that ended it.
  @discardableResult
  func wait() -> Int32 {
    do { return try process.wait() } catch {
      Issue.record(error)
      return -1
    }
  }

  /// Whether the kernel wrote a core dump; known after ``wait()``.
  var hasCore: Bool { process.hasCore }
}

/// The memory that a started process may use.
enum MemoryLimit {
  private typealias Prlimit =
    @convention(c) (pid_t, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32

  private static let most: UInt = 4 << 30

  /// A sanitizer reserves terabytes of addresses: there is no limit then.
  private static let isSanitized: Bool = {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
      .first
    let isLarge = (pages.flatMap { Int($0) } ?? 0) > 1 << 28
    return isLarge
  }()

  /// The Glibc module lacks `prlimit`.
  static func set(on process: pid_t) {
    guard !isSanitized, let symbol = unsafe dlsym(nil, "prlimit") else { return }
    let prlimit = unsafe unsafeBitCast(symbol, to: Prlimit.self)
    var limit = rlimit(rlim_cur: most, rlim_max: most)
    let addressSpace: Int32 = 9
    // It may have ended already.
    _ = unsafe prlimit(process, addressSpace, &limit, nil)
  }
}

/// A pipe that many processes wait on and that lets them all go at once.
final class Gate: Sendable {
  private let pipe: PipeEnds

  init() throws { pipe = try PipeEnds() }

  var out: Int32 { pipe.reader }

  /// Whether everything that was written has been read.
  var isEmpty: Bool {
    var entry = pollfd(fd: out, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) == 0
  }

  func write(_ text: String) { pipe.write(text) }

  func write(_ bytes: [UInt8]) { pipe.write(bytes) }

  func open() { pipe.closeWriting() }
}

/// Starts `vault-torture`.
func torture(_ words: String..., gate: Gate? = nil) throws -> Running {
  try Running(Built.path("vault-torture"), words, gate: gate)
}

/// Runs bodies side by side on threads of their own: what blocks here must not block other tests.
func lanes<R: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) throws -> R) async throws -> [R] {
  try await withThrowingTaskGroup(of: (Int, R).self) { group in
    for index in 0..<count {
      group.addTask {
        try await withCheckedThrowingContinuation { continuation in
          Thread.detachNewThread { continuation.resume(with: Result { (index, try body(index)) }) }
        }
      }
    }
    var results: [Int: R] = [:]
    for try await (index, result) in group { results[index] = result }
    return (0..<count).map { results[$0]! }
  }
}

/// Where files are as fast as memory: most of these tests are about order, not about the disk.
enum Place {
  /// `nil` where there is no room for 100,000 items, or nothing can be started.
  static let fast: String? = {
    let path = "/dev/shm"
    var about = statvfs()
    guard FileManager.default.isWritableFile(atPath: path), unsafe statvfs(path, &about) == 0 else {
      return nil
    }
    let isNotStarting = about.f_flag & 8 != 0
    return isNotStarting || about.f_bavail * about.f_frsize < 1 << 30 ? nil : path
  }()
}
