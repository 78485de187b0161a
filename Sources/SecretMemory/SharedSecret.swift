/// A secret that several values share by reference, such as a key that a vault keeps open. It is wiped when the last of
/// them ends.
package final class SharedSecret: Sendable {
  /// The secret, lent and never copied.
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
