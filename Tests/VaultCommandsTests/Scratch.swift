import Foundation
import Testing
import VaultCommands

/// A temporary file, read or written through a descriptor in this process.
final class Scratch {
  let descriptor: Int32

  /// - Parameter content: What can be read from the descriptor.
  init(_ content: [UInt8] = []) throws {
    var template = Array("\(FileManager.default.temporaryDirectory.path)/scratch-XXXXXX".utf8CString)
    descriptor = unsafe mkstemp(&template)
    try #require(descriptor >= 0)
    unsafe unlink(template)
    for offset in stride(from: 0, to: content.count, by: 1 << 16) {
      let part = Array(content[offset..<min(offset + 1 << 16, content.count)])
      try #require(
        unsafe part.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) } == part.count)
    }
    lseek(descriptor, 0, SEEK_SET)
  }

  deinit { close(descriptor) }

  /// Everything in the file.
  var content: [UInt8] {
    let count = Int(lseek(descriptor, 0, SEEK_END))
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, 0) }
    return Array(bytes.prefix(max(got, 0)))
  }
}
