import Foundation
import Glibc
import Testing

/// The memory of another process, which root may read.
enum ProcessMemory {
  /// Lends each writable region of the memory that can be read, locked pages included. Pages that are secret to the kernel
  /// too cannot be read.
  static func forEachRegion(of process: pid_t, _ body: (Data) throws -> Void) throws {
    let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
    let memory = unsafe open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0)
    defer { close(memory) }
    var byteCount = 0
    for line in maps.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count > 1, parts[1].hasPrefix("rw") else { continue }
      let ends = parts[0].split(separator: "-").compactMap { Int($0, radix: 16) }
      guard ends.count == 2 else { continue }
      var region = [UInt8](repeating: 0, count: ends[1] - ends[0])
      let count = unsafe pread(memory, &region, region.count, off_t(ends[0]))
      guard count > 0 else { continue }
      byteCount += count
      try body(Data(region[..<count]))
    }
    #expect(byteCount > 1 << 18)
  }
}
