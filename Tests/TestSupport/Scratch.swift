import Foundation

/// A temporary file, read or written through a descriptor in this process.
package final class Scratch {
  package let descriptor: Int32

  /// - Parameter content: What can be read from the descriptor.
  package init(_ content: [UInt8] = []) throws {
    var template = Array("\(FileManager.default.temporaryDirectory.path)/scratch-XXXXXX".utf8CString)
    descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    unsafe unlink(template)
    for offset in stride(from: 0, to: content.count, by: 1 << 16) {
      let part = Array(content[offset..<min(offset + 1 << 16, content.count)])
      let written = unsafe part.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      guard written == part.count else { throw CocoaError(.fileWriteUnknown) }
    }
    lseek(descriptor, 0, SEEK_SET)
  }

  deinit { close(descriptor) }

  /// Everything in the file.
  package var content: [UInt8] {
    let count = Int(lseek(descriptor, 0, SEEK_END))
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, 0) }
    return Array(bytes.prefix(max(got, 0)))
  }
}
