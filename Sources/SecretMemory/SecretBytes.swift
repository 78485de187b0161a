// The front page of SecretMemory, the lowest Swift module. Read next:
//
// - `SharedSecret`: one secret with several owners. `SecretInput`: secrets from descriptors and private files.
// - `SecretArena` and `ArenaStatus`: how well this process protects its secrets. `ProcessHardening`: what
//   `main` calls first.
// - Inside: `SecretBlock` is the memory of one secret. `Arena` hands out the slots, `Slots` keeps the free
//   ones, `Pages` maps the memory, and `ForkMark` detects a fork.

/// A secret in memory: bytes with one owner, written in place, lent for one call, and wiped when the owner ends.
///
/// **Noncopyable** (`~Copyable`): a value is given away or lent, and used once where a call consumes it. So it is no element of an
/// array or a dictionary, and no closure that escapes can give it away. It cannot be compared with `==`, printed or encoded.
///
/// Every secret of a vault is in a value of this type from where it enters the process to where it leaves. Do not copy one into a
/// `String`, `[UInt8]` or `Data`, which are not wiped.
///
/// Up to 64 KiB, the bytes are in the locked arena of the process, which is in no core dump and never swapped out.
/// A larger secret has pages of its own: they are in no core dump and are wiped, but the kernel may swap them out.
///
/// A child made by `fork` does not inherit the bytes. There, a borrowed secret may end without effect, and reading
/// it stops the process instead of returning zeros.
@safe
public struct SecretBytes: ~Copyable, Sendable {
  /// The most bytes one secret can hold: 16 MiB of plaintext and 64 KiB for what is wrapped around it.
  public static var maximumByteCount: Int { 16 << 20 + 64 << 10 }

  @usableFromInline let block: SecretBlock
  /// How many bytes the secret has, 0 or more.
  public let byteCount: Int

  /// A secret that `body` writes in place. It has as many bytes as `body` appends.
  ///
  /// - Parameters:
  ///   - capacity: The most bytes that `body` may append, 0 to ``maximumByteCount``.
  ///   - body: Appends the bytes.
  /// - Throws: What `body` throws. The bytes written until then are wiped.
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

  /// A copy of `bytes`. The caller wipes `bytes`.
  @inlinable
  public init(copying bytes: RawSpan) {
    let count = bytes.byteCount
    let block = unsafe SecretBlock.allocate(count)
    unsafe bytes.withUnsafeBytes { source in unsafe block.bytes.copyMemory(from: source) }
    self.byteCount = count
    unsafe self.block = block
  }

  /// A copy of bytes that came as another type: `SecretBytes(copying: data.span)`, `SecretBytes(copying: text.utf8.span)`. The
  /// caller wipes that value, where it can be wiped.
  @inlinable
  public init(copying bytes: Span<UInt8>) {
    self.init(copying: unsafe bytes.bytes)
  }

  /// A copy of an array that holds no secret: a key of a test, or a public value.
  package init(copying bytes: [UInt8]) {
    self.init(copying: bytes.span)
  }

  /// A secret of `zeroes` zero bytes, to be written in place later.
  package init(zeroes count: Int) {
    let block = unsafe SecretBlock.allocate(count)
    self.byteCount = count
    unsafe self.block = block
  }

  @inlinable
  deinit {
    unsafe block.free()
  }

  /// Lends the bytes to `body`, for the time of the call.
  @inlinable
  public func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    unsafe block.requireOwnProcess()
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: block.bytes[..<byteCount])
    return try unsafe body(bytes.bytes)
  }

  /// Lends the bytes to `body` as elements, which code reads without `unsafe`: `secret.exposeElements { $0[0] }`.
  @inlinable
  public func exposeElements<R: ~Copyable, E: Error>(
    _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    unsafe block.requireOwnProcess()
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: block.bytes[..<byteCount])
    return try unsafe body(bytes.assumingMemoryBound(to: UInt8.self).span)
  }

  /// Lends the bytes to `body`, which changes them in place. Their number stays the same.
  @inlinable
  package mutating func modify<R: ~Copyable, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    unsafe block.requireOwnProcess()
    return try unsafe body(UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<byteCount]))
  }

  /// A copy.
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
