/// The messages between a program that asks PAM and `vault-pam`, the helper in which PAM's modules run.
///
/// The two are the ends of a pair of SOCK_SEQPACKET sockets. The helper gets its end as descriptors 0 and 1. A
/// message is one packet of at most ``longest`` bytes. Its first byte is its type:
///
/// | type | from | the rest |
/// |---|---|---|
/// | `R` request | program | version 1 (u8), nonce (16 bytes), byte count of the service (u8), service, user (UTF-8) |
/// | `Q` question | helper | the text of a module, at most ``longestText`` bytes |
/// | `A` answer | program | what the person typed: at most ``longestAnswer`` bytes, no NUL |
/// | `E` error, `T` text | helper | the text of a module, which waits for no answer |
/// | `B` busy | root, in place of a helper | nothing: too many helpers run for this keeper |
/// | `V` verdict | helper | the nonce of the request, step (u8, ``PAMVerdict/Step``), PAM's result (i32, little-endian) |
///
/// In a keeper, root starts the helper with a ``PAMLimit``, which says for whom it may be asked (docs/decisions/0052).
///
/// The order: one request; then texts, errors and questions, and an answer after each question; then one verdict,
/// and the end of the connection. Everything else is a fault, and a fault is a denial. Success is a verdict of step
/// 0 and result 0 that repeats the nonce, with no message after it. No exit status and no output of a module can
/// look like it.
///
/// Read next: ``PAMRequest``, ``PAMReport`` (what the helper says) and ``PAMVerdict``, then ``PAMChannel``, which
/// sends and receives.
package enum PAMMessages {
  /// The most bytes of one message.
  package static let longest = 4224
  /// The most bytes of a text of a module. A longer text is cut.
  package static let longestText = 4096
  /// The most bytes of an answer that PAM accepts.
  package static let longestAnswer = 511

  /// What a keeper sends to the process of root that starts helpers: one packet for each helper, with one descriptor, the end of a
  /// connection that the helper gets.
  package static let start = UInt8(ascii: "H")
  /// What a keeper sends there to learn which program a process of its person runs: this byte, the number of the process (u32,
  /// little-endian), and one descriptor. On that, one packet comes back: the path; an empty one where it is not known.
  package static let program = UInt8(ascii: "P")
  /// The byte count of that question.
  package static let programLength = 5

  static let version: UInt8 = 1
  static let answer = UInt8(ascii: "A")
}
