/// Why text could not be prepared.
package enum TextPreparationError: Error, Equatable, Sendable {
  /// The text has characters that need the tables of libunistring, and it is not installed.
  case libraryMissing
}
