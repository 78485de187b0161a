import TextFormats
import VaultKit

/// What an OAuth server refuses (RFC 6749 §5.2).
struct OAuthRefusal {
  /// The word of the server; `nil` without one.
  let word: String?
  /// Whether the server says that it refuses, by `error`: then it does, whatever the status and whatever else it gives.
  let isStated: Bool
  /// The word, or what stands for it where the server has none.
  private let meaning: String?
  private let text: String?
  private let status: Int
  private let retryAfter: Duration?

  /// - Parameter silence: The word of a server that answers 400 without one.
  init(_ reply: OAuthReply, silence: String? = nil) {
    (status, retryAfter) = (reply.status, reply.retryAfter)
    var members = AnswerMembers()
    var isStated = false
    // Without JSON it is an error page: its status says enough.
    try? reply.read { (name, reader) throws(TextError) in
      switch name {
      case "error":
        isStated = try reader.kind() != .word
        try members.noteText(name, 1...64, reader)
      case "error_description": try members.noteText(name, 1...256, reader)
      default: return false
      }
      return true
    }
    self.isStated = isStated
    word = members.texts["error"].flatMap { Self.isWord($0) ? $0 : nil }
    meaning = word ?? (status == 400 && !isStated ? silence : nil)
    text = members.texts["error_description"]
  }

  /// A refusal that came in the address of a redirection.
  init(word: String) {
    self.word = Self.isWord(word) ? word : nil
    (meaning, isStated) = (self.word, true)
    (text, status, retryAfter) = (nil, 400, nil)
  }

  /// - Parameter asked: What was asked for, as the object of “refuses”.
  func error(of asked: String) -> VaultError {
    if status == 429 || status >= 500 || ["temporarily_unavailable", "server_error"].contains(word) {
      return VaultError(
        .network, "the server cannot answer now\(reason)",
        hint: retryAfter == nil ? "try again later" : nil, retryAfter: retryAfter)
    }
    guard let meaning, let known = Self.known[meaning] else {
      return VaultError(.peerFailed, "the server refuses \(asked)\(reason)", hint: Self.operatorHint)
    }
    return VaultError(known.code, "the server refuses \(known.what ?? asked)\(reason)", hint: known.hint)
  }

  private var reason: String {
    " (\(word ?? "status \(status) of HTTP"))" + (text.map { ": \($0)" } ?? "")
  }

  private static func isWord(_ text: String) -> Bool {
    1...64 ~= text.utf8.count
      && text.utf8.allSatisfy { letters.contains($0 | 0x20) || "0123456789_-.:".utf8.contains($0) }
  }

  private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")

  private static let operatorHint: Hint = "nothing was stored; tell the operator of the server"

  private static let known: [String: (code: VaultError.Code, what: String?, hint: Hint)] = [
    "invalid_grant": (.expired, nil, .requestTokens),
    // RFC 8628 §3.5.
    "expired_token": (.expired, nil, .requestTokens),
    // Words of GitHub, which answers with 200.
    "bad_verification_code": (.expired, nil, .requestTokens),
    "bad_refresh_token": (.expired, nil, .requestTokens),
    "incorrect_client_credentials": (.deviceUnknown, "this client", .registerClient),
    "redirect_uri_mismatch": (.policy, "the address of the redirection", "register another one"),
    "invalid_client": (.deviceUnknown, "this client", .registerClient),
    "unauthorized_client": (.policy, nil, .registerClient),
    "invalid_scope": (.policy, "the scope", "ask for another scope"),
    "access_denied": (.policy, nil, .requestTokens),
    "invalid_dpop_proof": (.peerFailed, "the proof of the key", .bindTokens),
    "use_dpop_nonce": (
      .peerFailed, "each nonce that it gave", "nothing was stored; tell the operator of the server"
    ),
    "invalid_redirect_uri": (.policy, "the address of the redirection", "register another one"),
    "invalid_token": (.policy, "the token for the registration", "ask its operator for a valid one"),
  ]
}

extension VaultError {
  /// A redirection, or a status that nothing explains.
  static func oauth(_ reply: OAuthReply, of asked: String, silence: String? = nil) -> VaultError {
    guard 300...399 ~= reply.status else { return OAuthRefusal(reply, silence: silence).error(of: asked) }
    return VaultError(
      .peerFailed,
      "the server redirects the request (status \(reply.status) of HTTP), and that is not followed",
      hint: "register at the address that it is now at")
  }
}
