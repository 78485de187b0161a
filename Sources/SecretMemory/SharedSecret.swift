/// One secret with several owners. They share it by reference, and it is wiped when the last owner ends.
///
/// Use it where a copyable value, a closure or a collection holds a secret. Use ``SecretBytes`` where one owner
/// suffices.
package final class SharedSecret: Sendable {
  /// The secret, for calls that borrow ``SecretBytes``.
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  package var byteCount: Int { bytes.byteCount }

  /// Lends the bytes to `body`.
  package func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.expose(body)
  }
}
