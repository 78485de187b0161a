import SecretMemory
import TextFormats
public import VaultKit

/// A request for tokens to which a person agrees on another device (RFC 8628): it is for a machine without a browser. It is for one call of
/// ``TokenSets/finish(_:over:context:)``.
public struct DeviceAuthorization: Sendable {
  /// What the person types there: 1 to 64 bytes whose characters are all visible.
  public let code: String
  /// Where the person types it, an `https` address.
  public let url: String
  /// The same address with the code in it, for a picture or a link; `nil` where the server gives none. The person still compares the code.
  public let completeURL: String?
  /// When the server stops waiting, by the wall clock.
  public let expires: Instant
  /// The registration of the client.
  public let registration: ItemID
  let deviceCode: SharedSecret
  /// How long to wait before each question.
  let interval: Duration
  /// How long the server waits.
  let life: Duration
  let scope: String?
  let key: ItemID?

  /// - Parameter now: From when on the server waits.
  /// - Throws: ``VaultError/Code/network`` for an answer without a code or an address.
  init(
    _ reply: OAuthReply, of registration: ItemID, scope: String?, key: ItemID?, at now: Instant
  ) throws(VaultError) {
    var members = AnswerMembers()
    try reply.read { (name, reader) throws(TextError) in
      switch name {
      case "device_code": try members.noteSecret(name, reader)
      case "user_code": try members.noteText(name, 1...64, reader)
      // `verification_url` is older than the RFC.
      case "verification_uri", "verification_url", "verification_uri_complete":
        try members.noteText(name, RegistrationRecord.addressBytes, reader)
      case "expires_in", "interval": try members.noteSeconds(name, reader)
      default: return false
      }
      return true
    }
    deviceCode = try TransportFields.required("device_code", members.secrets["device_code"])
    code = try TransportFields.required("user_code", members.texts["user_code"])
    url = try TransportFields.required(
      "verification_uri", members.texts["verification_uri"] ?? members.texts["verification_url"])
    guard VisibleText.flaw(inName: code) == nil, ServerAddress.isEndpoint(url) else {
      throw .peerAnswered("what the person is to see is not a code and an https address")
    }
    completeURL = members.texts["verification_uri_complete"].flatMap {
      ServerAddress.isEndpoint($0) ? $0 : nil
    }
    let seconds = members.numbers["expires_in"].map { min($0, Self.longestLife) } ?? Self.usualLife
    (life, expires) = (.seconds(seconds), now.advanced(byMilliseconds: Int64(seconds) * 1000))
    interval = .seconds(min(max(members.numbers["interval"] ?? Self.usualInterval, 1), Self.longestInterval))
    (self.registration, self.scope, self.key) = (registration, scope, key)
  }

  /// In seconds. RFC 8628 §3.2 demands a life, and has 5 as the interval of a server that names none.
  private static let (usualLife, longestLife): (UInt64, UInt64) = (600, 86_400)
  private static let usualInterval: UInt64 = 5
  static let longestInterval: UInt64 = 300
}
