/// Why no key was derived. No case carries a secret or a part of one.
package enum DerivationError: Error, Equatable, Sendable {
  /// The parameters, the salt or the length of the key is not allowed. Nothing was computed.
  case parametersOutOfBounds
  /// Not enough memory for the derivation. Nothing was computed.
  case outOfMemory
}
