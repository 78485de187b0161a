/// A place that text is written to: a descriptor, or memory in a test.
package protocol TextOutput {
  associatedtype Failure: Error

  /// Writes bytes that are not secret.
  func write(bytes: [UInt8]) throws(Failure)

  /// Writes a secret through an encoder that works in secret memory.
  ///
  /// - Parameters:
  ///   - encode: Appends at most six bytes for each byte that it is given.
  ///   - group: How many bytes of the secret `encode` is given at most.
  func writeSecret(
    _ bytes: RawSpan, through encode: (RawSpan, inout OutputRawSpan) -> Void, group: Int) throws(Failure)
}

extension TextOutput {
  package func write(_ text: String) throws(Failure) { try write(bytes: Array(text.utf8)) }
}
