/// Why a text cannot be read. It never holds a value that was read, which may be secret. The name of a JSON member is not secret.
package enum TextError: Error, Equatable, Sendable {
  /// The text is malformed, with the reason and the JSON member where it is.
  case malformed(String, member: String? = nil)
  /// The JSON member itself is refused, with the reason: it is unknown, or there twice.
  case member(String, String)
  /// The text has more bytes than the limit.
  case tooLong(limit: Int, member: String? = nil)
  /// Reading the descriptor failed, with the error number of the system.
  case unreadable(errno: Int32)

  /// The same error with the member where it is, unless a member is named already.
  func inside(_ name: String) -> TextError {
    switch self {
    case .malformed(let why, nil): .malformed(why, member: name)
    case .tooLong(let limit, nil): .tooLong(limit: limit, member: name)
    default: self
    }
  }
}
