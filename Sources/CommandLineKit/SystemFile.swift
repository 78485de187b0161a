import Glibc

/// Small files of the kernel.
package enum SystemFile {
  /// The first 64 KiB; `nil` when it cannot be read.
  package static func text(_ path: String) -> String? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < 64 << 10 {
      let got = unsafe read(file, &buffer, buffer.count)
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return got == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer[..<got]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
