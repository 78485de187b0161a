import TextFormats

/// Why a request has no good answer: what `vaultctl` is told (docs/guides/transport.md, *Errors*).
///
/// No text has a secret: only names of members, files and hosts, numbers, and what the configuration or the server gives
/// for the person.
package struct Refusal: Error, Equatable, Sendable {
  /// The word of the transport page.
  package var code: String
  /// One line for the person.
  package var message: String
  package var hint: String?
  package var attemptsLeft: UInt64?
  /// Whether the request surely did not reach the server.
  package var isUnsent = false

  package init(_ code: String, _ message: String, hint: String? = nil, attemptsLeft: UInt64? = nil) {
    (self.code, self.message, self.hint, self.attemptsLeft) = (code, message, hint, attemptsLeft)
  }

  /// The server cannot be reached, or what it sent is no answer.
  static func network(_ message: String, hint: String? = nil) -> Refusal {
    Refusal("NETWORK", message, hint: hint)
  }

  /// The request, the configuration or the server's refusal, where no other word fits.
  static func other(_ message: String, hint: String? = nil) -> Refusal {
    Refusal("OTHER", message, hint: hint)
  }

  /// Runs what comes before the first byte to the server.
  static func unsent<R: ~Copyable>(_ body: () throws(Refusal) -> R) throws(Refusal) -> R {
    do throws(Refusal) { return try body() } catch {
      var refusal = error
      refusal.isUnsent = true
      throw refusal
    }
  }

  /// The answer of an error, for the request with this id.
  func answer(to id: String) -> JSON {
    .object {
      Field("version", 1)
      Field("id", id)
      Field(
        "error",
        JSON.object {
          Field("code", code)
          Field("message", Self.cut(message))
          Field("hint", hint.map(Self.cut))
          Field("attemptsLeft", attemptsLeft)
          Field("unsent", isUnsent ? true : nil)
        })
    }
  }

  /// At most 512 bytes, whose characters all show: another text would be replaced by `vaultctl`.
  private static func cut(_ text: String) -> String {
    var cut = ""
    for scalar in text.unicodeScalars {
      let shown = scalar.shown
      guard cut.utf8.count + shown.utf8.count <= 512 else { break }
      cut += shown
    }
    return cut
  }
}

extension TextError {
  /// The error in words that name no value.
  var words: String {
    switch self {
    case .malformed(let why, let member): why + (member.map { ", in '\(Self.shown($0))'" } ?? "")
    case .member(let name, let why): "'\(Self.shown(name))' \(why)"
    case .tooLong(let limit, let member): "'\(Self.shown(member ?? ""))' has more than \(limit) bytes"
    case .unreadable: "it cannot be read"
    }
  }

  private static func shown(_ name: String) -> String { name.unicodeScalars.map(\.shown).joined() }
}
