import Glibc

/// What the kernel says of a process in its directory in `/proc` (proc(5)).
package enum ProcessFile {
  /// The path of the program that a process runs.
  ///
  /// A process can have a file system of its own, in which any file has any path. So the path is given only if it leads this process
  /// to the same file.
  ///
  /// - Returns: nil for a process that is gone, or whose program this user may not see, and for a program that was removed or replaced.
  package static func executable(of process: Int32) -> String? {
    let link = "/proc/\(process)/exe"
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe target.withUnsafeMutableBytes {
      unsafe readlink(link, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    guard count > 0, target[0] == UInt8(ascii: "/") else { return nil }
    let path = String(decoding: target[..<count], as: UTF8.self)
    var (run, named) = (stat(), stat())
    guard unsafe stat(link, &run) == 0, unsafe stat(path, &named) == 0, run.st_dev == named.st_dev,
      run.st_ino == named.st_ino
    else { return nil }
    return path
  }

  /// The real user of a process. The owner of its directory is root where the process is not dumpable.
  package static func user(of process: Int32) -> UInt32? {
    let lines = text("status", of: process)?.split(separator: "\n" as Character)
    let line = lines?.first { $0.hasPrefix("Uid:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt32($0) }
  }

  /// At most 4,096 bytes of a file in its directory; nil where it cannot be read.
  package static func text(_ name: String, of process: Int32) -> String? {
    let file = unsafe open("/proc/\(process)/\(name)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}
