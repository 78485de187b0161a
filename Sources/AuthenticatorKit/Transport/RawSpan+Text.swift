extension RawSpan {
  /// A copy as text, of what is no secret.
  var text: String { unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
}
