public import DeviceKeys
public import SecretMemory
public import VaultFormat

/// Values by key in a vault: the short way for a program that keeps a few secrets.
///
/// ```swift
/// let storage = try await ItemStorage.open(at: VaultPath("/var/lib/shop/shop.vault"), service: "shop")
/// try await storage.set("api-token", token)
/// let stored = try await storage.get("api-token")
/// ```
///
/// Several processes can share a storage: each call is one commit, and ``update(_:_:)`` loses nothing. Any text is a key, and keys
/// that look alike are two. A person who has the file and the device key can read the keys, as they can read attributes; values are
/// sealed.
///
/// A value is the secret of an item of the kind ``ItemKind/genericPassword`` that has no name. Its service is that of the storage, and
/// its account stands for the key: each byte that is not a visible ASCII character, and `%`, as `%` and two digits. An item that has a
/// name is never a value.
public struct ItemStorage: Storage {
  /// The most bytes of a key.
  public static var longestKey: Int { 16 << 10 }

  private let vault: Vault
  private let service: String
  private let access: AccessControl
  private let context: AuthenticationContext?

  /// Opens the vault at a path and its storage. Makes a vault without a passcode where there is none.
  ///
  /// - Parameters:
  ///   - path: The vault file, in a directory that exists.
  ///   - service: Keeps the keys of one program apart from those of others: 1 byte or more, all characters visible.
  ///   - protector: Who keeps the device key; `nil` for the one that the vault's header names, and for a new vault a
  ///     file outside its directory.
  /// - Throws: As ``Vault/openOrCreate(at:protector:passcode:)``.
  public static func open(
    at path: VaultPath, service: String, protector: (any Protector)? = nil
  ) async throws(VaultError) -> ItemStorage {
    let opened = try await Vault.openOrCreate(at: path, protector: protector)
    return try ItemStorage(opened.vault, service: service)
  }

  /// The storage of a program in a vault that is open, such as one with a passcode.
  ///
  /// - Parameters:
  ///   - vault: The vault.
  ///   - service: Keeps the keys of one program apart from those of others: 1 byte or more, all characters visible.
  ///   - access: When new values can be read. Without constraints.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/policy`` for constraints.
  public init(
    _ vault: Vault, service: String, access: AccessControl = AccessControl(),
    context: AuthenticationContext? = nil
  ) throws(VaultError) {
    guard access.constraints.isEmpty else {
      throw VaultError(
        .policy, "values of a storage have no access rule", hint: "store an item of your own for that")
    }
    (self.vault, self.service, self.access, self.context) = (vault, service, access, context)
  }

  /// The value of a key; `nil` where there is none.
  ///
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/malformed`` for a key of more than ``longestKey`` bytes.
  public func get(_ key: String) async throws(VaultError) -> SecretBytes? {
    let place = try place(of: key)
    return try await vault.asking(context) { core, context throws(VaultError) in
      try core.storedValue(place, context: context)
    }
  }

  /// Stores a value, in the place of the one that is there.
  ///
  /// - Parameters:
  ///   - key: Any text of at most ``longestKey`` bytes.
  ///   - value: At most 1 MiB; it can be empty.
  /// - Throws: As ``get(_:)``.
  public func set(_ key: String, _ value: consuming SecretBytes) async throws(VaultError) {
    let (place, shared) = (try place(of: key), SharedSecret(value))
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.changeValue(place, context: context) { _ in shared.bytes.copy() }
    }
  }

  /// Removes a value, if there is one.
  ///
  /// - Throws: As ``get(_:)``.
  public func remove(_ key: String) async throws(VaultError) {
    let place = try place(of: key)
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.removeValue(place, context: context)
    }
  }

  /// Makes a new value of the old one, in one commit: what other processes change comes before it or after it.
  ///
  /// - Parameters:
  ///   - key: Any text of at most ``longestKey`` bytes.
  ///   - body: Gets the value, or `nil`, and returns the new one, or `nil` to remove it. It holds the vault, so it calculates and
  ///     does not wait. What it throws changes nothing.
  /// - Throws: What `body` throws; as ``get(_:)``.
  public func update(
    _ key: String, _ body: @escaping @Sendable (consuming SecretBytes?) throws(VaultError) -> SecretBytes?
  ) async throws(VaultError) {
    let place = try place(of: key)
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.changeValue(place, context: context, body)
    }
  }

  private func place(of key: String) throws(VaultError) -> NewItem {
    guard key.utf8.count <= Self.longestKey, !service.isEmpty else {
      throw VaultError(.malformed, "a key of a storage has at most 16 KiB, and its service is not empty")
    }
    var attributes = Attributes()
    attributes[.service] = service
    attributes[.account] = Self.account(of: key)
    return NewItem(.genericPassword, attributes: attributes, access: access)
  }

  /// One text for each key. No other key than the empty one is a single `%`.
  package static func account(of key: String) -> String {
    guard !key.isEmpty else { return "%" }
    let digits = Array("0123456789ABCDEF".utf8)
    var account: [UInt8] = []
    for byte in key.utf8 {
      if 0x21...0x7E ~= byte, byte != UInt8(ascii: "%") {
        account.append(byte)
      } else {
        account += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: account, as: UTF8.self)
  }
}
