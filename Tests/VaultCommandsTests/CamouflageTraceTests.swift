import Foundation
import TestSupport
import Testing

/// What another process can see of a command with a right PIN and with a wrong one, behind a camouflaged PIN.
///
/// Each run begins with the same files and the same clocks, so that only the PIN differs. Verified to fail when the derivation
/// sleeps, and when it allocates, for PINs that begin with an 8.
@Suite("Traces of right and wrong camouflaged PINs", .bounded, .serialized, .requirement("B10"))
struct CamouflageTraceTests {
  private let tool: Tool
  private let start: [String: Data]

  init() throws {
    tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    // With eight digits a wrong PIN gives the code of the right one once in a hundred million times.
    let uri = "otpauth://hotp/x?secret=T45QZUPEQJ3RNIC37YZQTRGYCJ5OMYKP&digits=8&counter=0"
    let added = try tool(
      "otp", "add", "bank", "--pin-mode", "camouflaged", "--pin-fd", "3", input: Array(uri.utf8),
      secrets: [3: "8306"])
    expect(added.exit, equals: 0, "\(added.errors)")
    // From the fifth code on there is a line on standard error, which must not differ either.
    for _ in 0..<4 { try expect(tool.run(Self.code, secrets: [3: "8306"]).exit, equals: 0) }
    start = try Self.files(below: tool.home)
  }

  @Test("exit code, messages, files and system calls are the same")
  func systemCalls() throws {
    for pin in ["2749", "0000", "9999"] {
      let (right, wrong) = (try trace("8306"), try trace(pin))
      #expect(wrong.exit == 0 && wrong.exit == right.exit)
      #expect(wrong.errors == right.errors && right.errors.contains("otp confirm"))
      expect(wrong.sizes, equals: right.sizes)
      #expect(wrong.output.count == right.output.count && wrong.output != right.output)
      #expect(right.calls.count > 20)
      for call in Set(right.calls.keys).union(wrong.calls.keys) {
        expect(wrong.calls[call] ?? 0, equals: right.calls[call] ?? 0, "\(call)")
      }
    }
  }

  @Test("the number of allocations is the same")
  func allocations() throws {
    let counter = try AllocationCounter(in: tool)
    for pin in ["2749", "0000", "9999"] {
      let right = try counter.count { try run("8306") }
      #expect(right > 1_000)
      try expect(counter.count { try run(pin) }, equals: right)
    }
  }

  private static let code = ["code", "bank", "--pin-fd", "3"]

  private struct Trace {
    let exit: Int32
    let output: [UInt8]
    let errors: String
    /// How often the first thread made each system call.
    let calls: [String: Int]
    /// The files afterwards, and their sizes.
    let sizes: [String: Int]
  }

  private func run(_ pin: String) throws {
    try putBack()
    let run = try tool.run(Self.code, secrets: [3: pin])
    expect(run.exit, equals: 0, "\(run.errors)")
  }

  private func trace(_ pin: String) throws -> Trace {
    try putBack()
    let log = tool.home.appendingPathComponent("calls").path
    defer { try? FileManager.default.removeItem(atPath: log) }
    let run = try tool.run(
      ["-f", "-y", "-qq", "-s", "0", "-e", "signal=none", "-o", log, Tool.path] + Self.code,
      secrets: [3: pin],
      program: "/usr/bin/strace")
    let sizes = try Self.files(below: tool.home).filter { $0.key != "calls" }.mapValues(\.count)
    return Trace(
      exit: run.exit, output: run.output, errors: run.errors,
      calls: Self.calls(try String(contentsOfFile: log, encoding: .utf8)), sizes: sizes)
  }

  /// Which thread waits for which is a matter of time, so `futex` does not count. In how many parts the kernel gives a file of its
  /// own, such as the map of the memory, is a matter of addresses that it draws, so a `read` of one does not count.
  private static func calls(_ log: String) -> [String: Int] {
    let lines = log.split(separator: "\n")
    let first = lines.first?.prefix(while: \.isNumber) ?? ""
    var counts: [String: Int] = [:]
    for line in lines where line.hasPrefix(first + " ") {
      let call = line.dropFirst(first.count).drop { $0 == " " }.prefix { $0 != "(" }
      guard let letter = call.first, letter.isLetter, call != "futex" else { continue }
      if call == "read", line.contains("</proc/") || line.contains("</sys/") { continue }
      counts[String(call), default: 0] += 1
    }
    return counts
  }

  // MARK: Files

  private static func files(below folder: URL) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    var files: [String: Data] = [:]
    for name in names {
      files[name] = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path)
    }
    return files
  }

  /// Writes into the files that are there: a vault in another file would be a copy.
  private func putBack() throws {
    for name in try Self.files(below: tool.home).keys where start[name] == nil {
      try FileManager.default.removeItem(at: tool.home.appendingPathComponent(name))
    }
    for (name, data) in start {
      let file = try FileHandle(forWritingTo: tool.home.appendingPathComponent(name))
      try file.write(contentsOf: data)
      try file.truncate(atOffset: UInt64(data.count))
      try file.close()
    }
  }
}

/// Counts the allocations of the tool, by a library that is loaded before all others.
private struct AllocationCounter {
  private let tool: Tool
  private let library: String
  private let result: String

  init(in tool: Tool) throws {
    self.tool = tool
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("count-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let source = folder.appendingPathComponent("count.c").path
    try Data(Self.source.utf8).write(to: URL(fileURLWithPath: source))
    library = folder.appendingPathComponent("count.so").path
    result = folder.appendingPathComponent("result").path
    // The compiler that comes with Swift.
    let built = try Program("clang", ["-shared", "-fPIC", "-o", library, source]).run()
    try #require(built.status == 0, "\(built.text)")
  }

  func count(_ body: () throws -> Void) throws -> Int {
    tool.environment["LD_PRELOAD"] = library
    tool.environment["ALLOCATIONS"] = result
    defer { for name in ["LD_PRELOAD", "ALLOCATIONS"] { tool.environment[name] = nil } }
    try body()
    return try #require(Int(String(contentsOfFile: result, encoding: .utf8)))
  }

  private static let source = """
    #include <fcntl.h>
    #include <stdatomic.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    extern void *__libc_malloc(size_t);
    extern void *__libc_calloc(size_t, size_t);
    extern void *__libc_realloc(void *, size_t);
    extern void *__libc_memalign(size_t, size_t);
    static atomic_long calls;
    void *malloc(size_t size) { calls++; return __libc_malloc(size); }
    void *calloc(size_t count, size_t size) { calls++; return __libc_calloc(count, size); }
    void *realloc(void *old, size_t size) { calls++; return __libc_realloc(old, size); }
    void *aligned_alloc(size_t alignment, size_t size) { calls++; return __libc_memalign(alignment, size); }
    int posix_memalign(void **place, size_t alignment, size_t size) {
      calls++;
      *place = __libc_memalign(alignment, size);
      return *place ? 0 : 12;
    }
    void _exit(int status) {
      int file = open(getenv("ALLOCATIONS"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      dprintf(file, "%ld", (long)calls);
      close(file);
      syscall(SYS_exit_group, status);
      for (;;) {}
    }
    __attribute__((destructor)) static void end(void) { _exit(0); }
    """
}
