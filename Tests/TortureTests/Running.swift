import Foundation
import Glibc
import TestSupport
import Testing

/// A started process: its output on a pipe, its input on another or on the one that holds many back.
final class Running: @unchecked Sendable {
  // Used by one thread at a time: whoever started it.
  let pid: pid_t
  private let output: Int32
  private var rest: [UInt8] = []
  private var status: Int32?
  private let silence: Int32
  private let words: [String]

  /// Starts a program, which may use 4 GiB of addresses and be silent for so many seconds: a process that hangs or grows
  /// without end fails the test that started it.
  ///
  /// - Parameters:
  ///   - gate: Standard input; nothing to read when absent.
  ///   - errors: Whether standard error goes where standard output goes.
  ///   - errorFile: A new file that standard error goes to in place of that.
  init(
    _ program: String, _ words: [String], environment: [String: String] = [:], gate: Gate? = nil,
    errors: Bool = true, errorFile: String? = nil, silence: Int32 = 600
  ) throws {
    self.silence = silence
    self.words = [program] + words
    let ends = try Self.pipe()
    let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"].merging(environment) { $1 }
    var child = Child(program, words, variables)
    if let gate { child.copy(gate.out, to: 0) } else { child.open(0, "/dev/null") }
    child.copy(ends.1, to: 1)
    if let errorFile {
      child.create(2, errorFile)
    } else if errors {
      child.copy(ends.1, to: 2)
    } else {
      child.open(2, "/dev/null", flags: O_WRONLY)
    }
    output = ends.0
    defer { close(ends.1) }
    do { pid = try child.start().pid } catch {
      pid = 0
      status = -1
      throw error
    }
    MemoryLimit.set(on: pid)
  }

  /// A pipe that no process inherits by chance, or its end would never be seen. The Glibc module lacks `pipe2`.
  static func pipe() throws -> (Int32, Int32) {
    let symbol = try unsafe #require(dlsym(nil, "pipe2"))
    let pipe2 = unsafe unsafeBitCast(
      symbol, to: (@convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32).self)
    var ends: [Int32] = [0, 0]
    let result = unsafe pipe2(&ends, O_CLOEXEC)
    try #require(result == 0)
    return (ends[0], ends[1])
  }

  deinit {
    close(output)
    if status == nil {
      Glibc.kill(pid, SIGKILL)
      wait()
    }
  }

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
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      guard hasSomethingToSay() else { return false }
      let count = unsafe read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest += buffer[..<count]
      return true
    }
  }

  /// Waits for output. A process that is silent for too long is ended, and the test has failed.
  private func hasSomethingToSay() -> Bool {
    var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    while true {
      let count = unsafe poll(&entry, 1, silence * 1_000)
      if count < 0, errno == EINTR { continue }
      if count != 0 { return true }
      Issue.record("silent for \(silence) s, ended: \(words.joined(separator: " "))")
      kill()
      return false
    }
  }

  func kill(_ signal: Int32 = SIGKILL) { Glibc.kill(pid, signal) }

  /// The exit code, or minus the signal that ended it.
  @discardableResult
  func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while unsafe waitpid(pid, &raw, 0) < 0, errno == EINTR {}
    hasCore = raw & 0x80 != 0
    let result = raw & 0x7f == 0 ? raw >> 8 & 0xff : -(raw & 0x7f)
    status = result
    return result
  }

  /// Whether the kernel wrote a core dump; known after ``wait()``.
  private(set) var hasCore = false
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
    if isLarge { skip("limits of memory: this is a run under a sanitizer") }
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
final class Gate: @unchecked Sendable {
  // Opened once, by the thread that made it.
  let out: Int32
  private var entry: Int32

  init() throws {
    let ends = try Running.pipe()
    out = ends.0
    entry = ends.1
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(entry, bytes, bytes.count)
  }

  func open() {
    if entry >= 0 { close(entry) }
    entry = -1
  }

  deinit {
    open()
    close(out)
  }
}

/// Starts `vault-torture`.
func torture(_ words: String..., gate: Gate? = nil, silence: Int32 = 600) throws -> Running {
  try Running(Built.path("vault-torture"), words, gate: gate, silence: silence)
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
  static let fast: String? = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
}
