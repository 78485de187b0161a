/// What a program that asks PAM and `vault-pam`, the helper in which PAM's modules run, say to each other.
///
/// They are the two ends of a pair of SOCK_SEQPACKET sockets; the helper gets its end as descriptors 0 and 1. A message is one
/// packet of at most ``longest`` bytes, and its first byte is its type:
///
/// | type | from | the rest |
/// |---|---|---|
/// | `R` request | program | version 1 (u8), nonce (16 bytes), byte count of the service (u8), service, user (UTF-8) |
/// | `Q` question | helper | the words of a module, at most ``longestText`` bytes |
/// | `A` answer | program | what the person typed: at most ``longestAnswer`` bytes, no NUL |
/// | `E` error, `T` text | helper | the words of a module, which has no answer to wait for |
/// | `V` verdict | helper | the nonce of the request, step (u8, ``PAMVerdict/Step``), PAM's result (i32, little-endian) |
///
/// The order: one request; then texts, errors, and questions, of which each waits for its answer; then one verdict, and the
/// end of the connection. Everything else is a fault, and a fault is a denial. Success is a verdict of step 0 and result 0
/// that repeats the nonce, with nothing behind it: no exit status, and nothing that a module prints, can look like it.
package enum PAMMessages {
  /// The most bytes of one message.
  package static let longest = 4224
  /// The most bytes of a module's words; what is longer is cut.
  package static let longestText = 4096
  /// The most bytes that PAM takes as an answer.
  package static let longestAnswer = 511

  static let version: UInt8 = 1
  static let answer = UInt8(ascii: "A")
}
