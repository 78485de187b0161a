import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import TransportPrograms
import VaultKit

/// Secrets of a request and of an answer, in the memory of this process and where the program could show them.
@Suite("Secrets on the way to a server", .bounded)
struct ProgramLeakTests {
  /// The request's secret is drawn in secret memory, and the program makes the answer's. The program writes both into files
  /// with each bit turned over, so that what the search looks for is nowhere else in memory.
  ///
  /// Verified to fail when the request or the answer is copied into an array, and when the JSON of either is a `String`.
  @Test(
    "no secret of a request or an answer stays in memory, as bytes or as base64, and none is in an argument")
  func nowhere() async {
    await #expect(processExitsWith: .success) {
      let peer = try PeerProgram(
        """
        import base64
        def mask(data): return bytes(byte ^ 255 for byte in data)
        sent = base64.b64decode(request['secretBase64'])
        made = os.urandom(96)
        for name, data in ('sent', sent), ('made', made):
            with open('FOLDER/' + name, 'wb') as file: file.write(mask(data))
            with open('FOLDER/' + name + '64', 'wb') as file: file.write(mask(base64.b64encode(data)))
        for place in 'cmdline', 'environ':
            assert base64.b64encode(sent) not in open('/proc/self/' + place, 'rb').read()
        answer(control='4f5e6d7c8b9a' + '0a1b2c3d4e5f', secretBase64=base64.b64encode(made).decode())
        """)
      let control = try Self.exchange(with: peer)
      for name in ["sent", "sent64", "made", "made64"] {
        let masked = try Data(contentsOf: peer.folder.appendingPathComponent(name))
        precondition(masked.count >= 96)
        // Eight bytes from the middle, so that a part is found too.
        let found = try Self.isInMemory(masked[40..<48])
        precondition(!found, "\(name) is in memory")
      }
      let found = try Self.isInMemory(Data(control.utf8.map { ~$0 }).dropFirst(4).prefix(8))
      precondition(found, "the search finds nothing at all")
    }
  }

  /// Sends a secret, takes the one of the answer, and forgets both.
  private static func exchange(with peer: PeerProgram) throws -> String {
    let sent = SecretBytes(capacity: 96) { output in
      for _ in 0..<96 { unsafe output.append(freshBytes(1)[0], as: UInt8.self) }
    }
    let fields = try peer.send(["secretBase64": .secret(TransportSecret(sent))])
    guard case .secret(let made)? = fields["secretBase64"], made.expose({ $0.byteCount }) == 96 else {
      throw CocoaError(.coderValueNotFound)
    }
    return fields.word("control") ?? ""
  }

  /// Whether the memory that this process may write has these bytes, each bit turned over.
  private static func isInMemory(_ masked: Data) throws -> Bool {
    let pattern = Array(masked)
    let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    precondition(memory >= 0)
    defer { close(memory) }
    var region = [UInt8](repeating: 0, count: 1 << 20)
    for line in try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: " ")
      let ends = parts[0].split(separator: "-").compactMap { Int($0, radix: 16) }
      // What is larger than that is the shadow of a sanitizer.
      guard parts[1].hasPrefix("rw"), ends.count == 2, ends[1] - ends[0] <= 1 << 30 else { continue }
      for offset in stride(from: ends[0], to: ends[1], by: region.count - 64) {
        let count = unsafe pread(memory, &region, min(region.count, ends[1] - offset), off_t(offset))
        guard count >= pattern.count else { break }
        if has(region[..<count], pattern) { return true }
      }
    }
    return false
  }

  /// The C library finds the first byte, since a search in Swift takes minutes without optimization.
  private static func has(_ bytes: ArraySlice<UInt8>, _ pattern: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while unsafe rest.count >= pattern.count,
        let found = unsafe memchr(
          UnsafeRawBufferPointer(rebasing: rest).baseAddress!, Int32(~pattern[0]),
          rest.count - pattern.count + 1)
      {
        let start = unsafe UnsafeRawPointer(found) - bytes.baseAddress!
        if pattern.indices.allSatisfy({ unsafe bytes[start + $0] == ~pattern[$0] }) { return true }
        unsafe rest = bytes[(start + 1)...]
      }
      return false
    }
  }
}
