import Glibc

/// Who is asking, as the audit log records it.
package struct Caller: Sendable {
  package let user: UInt32
  package let process: UInt32
  package let executable: String
  /// The first bytes of the executable's path, as the log stores them.
  package let executableBytes: [UInt8]

  /// The maximum length of a text in the log.
  package static let textByteCount = 255

  package init(user: UInt32, process: UInt32, executable: String) {
    self.user = user
    self.process = process
    self.executable = executable
    executableBytes = Array(executable.utf8.prefix(Self.textByteCount))
  }

  /// This process.
  package static var current: Caller {
    var path = [UInt8](repeating: 0, count: 255)
    let length = unsafe path.withUnsafeMutableBytes {
      unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    let name = length > 0 ? String(decoding: path[..<length], as: UTF8.self) : "unknown"
    return Caller(user: getuid(), process: UInt32(getpid()), executable: name)
  }
}
