/// One secret with several owners: they share it by reference, and the last one to end wipes it.
///
/// For a secret that a copyable value, a closure or a collection has to hold. Where one owner suffices,
/// ``SecretBytes`` is the type.
package final class SharedSecret: Sendable {
  /// The secret itself, lent to those who take a `borrowing SecretBytes`.
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  package var byteCount: Int { bytes.byteCount }

  /// Lends the bytes to `body`.
  package func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.expose(body)
  }
}
