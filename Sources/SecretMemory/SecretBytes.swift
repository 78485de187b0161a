/// Bytes that nobody else may see: one owner, filled in place, lent for one call, wiped at the end.
///
/// Up to 64 KiB they lie in the process's locked arena, which no core dump and no swap device holds. Above that
/// they lie in pages of their own that no core dump holds and that are wiped, but may be swapped out.
///
/// A child made by `fork` does not inherit the bytes: there a borrowed secret may end its life (nothing happens),
/// and reading it stops the process instead of returning zeros.
@safe
public struct SecretBytes: ~Copyable, Sendable {
  /// The most bytes one secret can hold: 16 MiB of plaintext and 64 KiB for what is wrapped around it.
  public static var maximumByteCount: Int { 16 << 20 + 64 << 10 }

  @usableFromInline let block: SecretBlock
  /// How many bytes the secret has, 0 or more.
  public let byteCount: Int

  /// A secret written in place by `body`; it has as many bytes as `body` appended.
  ///
  /// - Parameter capacity: The most bytes that `body` may append, 0 to ``maximumByteCount``.
  /// - Throws: What `body` throws; the bytes written so far are wiped.
  @inlinable
  public init<E: Error>(
    capacity: Int, filling body: (inout OutputRawSpan) throws(E) -> Void
  ) throws(E) {
    let block = unsafe SecretBlock.allocate(capacity)
    var output = unsafe OutputRawSpan(buffer: block.bytes, initializedCount: 0)
    do throws(E) {
      try body(&output)
    } catch {
      _ = consume output
      unsafe block.free()
      throw error
    }
    unsafe self.byteCount = output.finalize(for: block.bytes)
    unsafe self.block = block
  }

  /// A secret with the same bytes as `bytes`; wiping `bytes` is left to the caller.
  @inlinable
  public init(copying bytes: RawSpan) {
    let count = bytes.byteCount
    let block = unsafe SecretBlock.allocate(count)
    unsafe bytes.withUnsafeBytes { source in unsafe block.bytes.copyMemory(from: source) }
    self.byteCount = count
    unsafe self.block = block
  }

  /// A secret with the same bytes as an array that held none: a test's key, a public value.
  package init(copying bytes: [UInt8]) {
    self.init(copying: unsafe bytes.span.bytes)
  }

  /// A secret of `zeroes` bytes that are 0, for what is written later in place.
  package init(zeroes count: Int) {
    let block = unsafe SecretBlock.allocate(count)
    self.byteCount = count
    unsafe self.block = block
  }

  @inlinable
  deinit {
    unsafe block.free()
  }

  /// Lends the bytes to `body`: the only way out.
  @inlinable
  public func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    unsafe block.requireOwnProcess()
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: block.bytes[..<byteCount])
    return try unsafe body(bytes.bytes)
  }

  /// Lends the bytes to `body` to be changed in place; their number stays.
  @inlinable
  package mutating func modify<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    unsafe block.requireOwnProcess()
    return try unsafe body(UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<byteCount]))
  }

  /// A second secret with the same bytes.
  package func copy() -> SecretBytes {
    expose { SecretBytes(copying: $0) }
  }

  /// The bytes of `first` and then those of `second`.
  package static func joining(_ first: borrowing SecretBytes, _ second: borrowing SecretBytes) -> SecretBytes
  {
    first.expose { first in
      second.expose { second in
        SecretBytes(capacity: first.byteCount + second.byteCount) { output in
          output.append(copying: first)
          output.append(copying: second)
        }
      }
    }
  }

  /// Whether both secrets have the same bytes, in a time that depends on their lengths only.
  public func isEqualInConstantTime(to other: borrowing SecretBytes) -> Bool {
    expose { mine in other.expose { theirs in SecretMemory.isEqualInConstantTime(mine, theirs) } }
  }
}
