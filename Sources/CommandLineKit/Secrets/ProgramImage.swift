import CLinux
import Glibc
package import SecretMemory
import TextFormats

/// A program that this process becomes, with variables that hold secrets.
package struct ProgramImage {
  private let words: [String]
  private var variables: [SharedSecret] = []

  package init(_ words: [String]) { self.words = words }

  /// Sets a variable to a secret.
  ///
  /// - Returns: False for a secret with a NUL byte, which no variable can hold.
  package mutating func set(_ name: String, to secret: SharedSecret) -> Bool {
    guard let assignment = Self.assignment(of: secret, to: name) else { return false }
    variables.append(assignment)
    return true
  }

  package mutating func set(_ name: String, to text: String) {
    variables.append(SharedSecret(SecretBytes(copying: Array("\(name)=\(text)".utf8) + [0])))
  }

  /// Becomes the program. Returns only when that failed: the error number.
  package func become() -> Int32 {
    let copies = unsafe words.map { unsafe strdup($0) } + [nil]
    return unsafe Self.withPointers(to: variables[...], after: []) { added in
      unsafe copies.withUnsafeBufferPointer { words in
        _ = unsafe clinux_become(words.baseAddress!, added)
      }
      return errno
    }
  }

  /// `VAR=` and the secret, as the kernel takes it.
  private static func assignment(of secret: SharedSecret, to name: String) -> SharedSecret? {
    let hasNUL = secret.expose { bytes in
      (0..<bytes.byteCount).contains { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 0 }
    }
    guard !hasNUL else { return nil }
    let prefix = Array("\(name)=".utf8)
    return secret.expose { bytes in
      SharedSecret(
        SecretBytes(capacity: prefix.count + bytes.byteCount + 1) { output in
          for byte in prefix { output.append(byte: byte) }
          output.append(copying: bytes)
          output.append(byte: 0)
        })
    }
  }

  /// The addresses of texts that stay where they are, in secret memory.
  private static func withPointers(
    to boxes: ArraySlice<SharedSecret>, after before: [UnsafeMutablePointer<CChar>?],
    _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
  ) -> Int32 {
    guard let box = boxes.first else { return unsafe body(before + [nil]) }
    return box.expose { bytes in
      unsafe bytes.withUnsafeBytes { buffer in
        let start = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress!)
          .assumingMemoryBound(to: CChar.self)
        return unsafe withPointers(to: boxes.dropFirst(), after: before + [start], body)
      }
    }
  }
}
