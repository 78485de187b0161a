import CLinux
import Glibc

/// `/proc/self/mountinfo`, proc(5).
package enum MountTable {
  static func type(ofDevice device: UInt64) -> String? {
    guard let text = read() else { return nil }
    return type(ofDevice: device, in: text)
  }

  /// Lines are `id parent major:minor root point options [tags] - type source options`.
  package static func type(ofDevice device: UInt64, in text: String) -> String? {
    let wanted = "\(clinux_device_major(device)):\(clinux_device_minor(device))"
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2, words[2] == wanted, let dash = words.firstIndex(of: "-") else { continue }
      guard dash + 1 < words.count else { return nil }
      return String(words[dash + 1])
    }
    return nil
  }

  private static func read() -> String? {
    let file = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer[..<count]
    }
  }
}
