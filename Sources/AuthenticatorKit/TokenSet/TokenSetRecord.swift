package import SecretMemory
package import VaultKit

/// The data of a token set (section 12): what an OAuth server gave a client, all of it from one answer but the refresh token and
/// the scope, which an answer can leave as they were.
package struct TokenSetRecord: Sendable {
  private enum Number {
    static let number: UInt16 = 1
    static let type: UInt16 = 2
    static let access: UInt16 = 3
    static let refresh: UInt16 = 4
    static let id: UInt16 = 5
    static let scope: UInt16 = 6
    static let expires: UInt16 = 7
    static let key: UInt16 = 8
    static let registration: UInt16 = 9
  }

  /// How the access token is sent.
  package enum TokenType: UInt8, Sendable {
    case bearer = 1
    /// Bound to a key: with a proof.
    case dpop = 2
  }

  /// The bytes of each token, and of a scope.
  package static let tokenBytes = 1...65_536
  package static let scopeBytes = 0...4096

  /// Whose tokens these are. An attribute has it too, to find the set by; but the device key alone can change attributes, and so
  /// could send the tokens to another server.
  package let registration: ItemID
  /// 1 for the first set of the item, and 1 more for each that replaces it.
  package var number: UInt64
  package var type: TokenType
  package var access: SharedSecret
  package var refresh: SharedSecret?
  package var id: SharedSecret?
  package var scope: String?
  /// When the access token expires, by the wall clock; `nil` where the server did not say.
  package var expires: Instant?
  /// The key of the proofs; `nil` for a set that is not bound.
  package var key: ItemID?

  package init(of registration: ItemID, number: UInt64, type: TokenType, access: SharedSecret) {
    (self.registration, self.number, self.type, self.access) = (registration, number, type, access)
  }

  /// - Parameter registration: Whose tokens these must be. A set of an earlier build does not say whose it is.
  /// - Throws: ``VaultError/Code/damaged``, also for the tokens of another registration; ``VaultError/Code/unsupported`` for a
  ///   type that this version does not know.
  package init(_ data: consuming SecretBytes, of registration: ItemID) throws(VaultError) {
    let owner: ItemID?
    let known: UInt8
    do throws(RecordError) {
      let fields = try SecretFields(data)
      number = try SecretFields.required(Number.number, fields.integer(Number.number, as: UInt64.self))
      known = try SecretFields.required(Number.type, fields.integer(Number.type, as: UInt8.self))
      access = try SecretFields.required(Number.access, fields.secret(Number.access, Self.tokenBytes))
      refresh = try fields.secret(Number.refresh, Self.tokenBytes)
      id = try fields.secret(Number.id, Self.tokenBytes)
      scope = try fields.text(Number.scope, Self.scopeBytes)
      expires = try fields.integer(Number.expires, as: Int64.self).map { Instant(milliseconds: $0) }
      key = try fields.bytes(Number.key, 16...16).flatMap { ItemID($0) }
      owner = try fields.bytes(Number.registration, 16...16).flatMap { ItemID($0) }
      type = .bearer
    } catch { throw Self.damaged("the tokens are not readable") }
    guard owner == nil || owner == registration else {
      throw Self.damaged("the tokens are those of another client")
    }
    self.registration = registration
    guard let type = TokenType(rawValue: known) else {
      throw VaultError(
        .unsupported, "the tokens have a type that this version does not know", hint: .useNewerVersion)
    }
    // A bound token without its key would be sent as one that is worth something alone.
    guard (type == .dpop) == (key != nil) else {
      throw Self.damaged("the tokens are not readable")
    }
    self.type = type
  }

  /// What the item's secret is.
  package var data: SecretBytes {
    var fields = SecretFieldWriter()
    fields.put(Number.number, Optional(number))
    fields.put(Number.type, Optional(type.rawValue))
    fields.put(Number.access, access)
    fields.put(Number.refresh, refresh)
    fields.put(Number.id, id)
    fields.put(Number.scope, scope)
    fields.put(Number.expires, expires?.milliseconds)
    fields.put(Number.key, key?.bytes)
    fields.put(Number.registration, Optional(registration.bytes))
    return fields.data
  }

  private static func damaged(_ message: String) -> VaultError {
    VaultError(
      .damaged, message, hint: .deleteTokens)
  }
}

extension Hint {
  package static let deleteTokens: Hint = """
    \(tool: "'vaultctl ls --json' shows the id of the set; ")delete \("the set by its id", tool: "it with 'vaultctl rm --id ID'"), \
    then get new ones\(" from the server", tool: " with 'vaultctl oauth token'")
    """
}
