#if canImport(Security)
  import Foundation
  import Security
#else
  import SecretMemory
  import VaultKit
#endif

/// The tokens of an app: in the Keychain on Apple's systems, in a vault on Linux.
public struct TokenStore: Sendable {
  #if canImport(Security)
    private let service: String

    /// - Parameter path: The file on Linux. On Apple's systems, the system has the file.
    public init(service: String, path: String) async throws { self.service = service }

    /// Keeps a token, in the place of the one that is there.
    public func set(_ key: String, _ token: Span<UInt8>) async throws {
      SecItemDelete(query(key) as CFDictionary)
      let data = token.withUnsafeBufferPointer { Data($0) }
      try check(SecItemAdd(query(key, [kSecValueData: data]) as CFDictionary, nil))
    }

    /// Lends a token; `nil` where there is none.
    public func withToken<R>(_ key: String, _ body: (Span<UInt8>) throws -> R) async throws -> R? {
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query(key, [kSecReturnData: true]) as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      try check(status)
      guard let data = found as? Data else { return nil }
      return try body(Array(data).span)
    }

    private func query(_ key: String, _ more: [CFString: Any] = [:]) -> [CFString: Any] {
      let place: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: key,
      ]
      return place.merging(more) { $1 }
    }

    private func check(_ status: OSStatus) throws {
      guard status == errSecSuccess else {
        throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
      }
    }
  #else
    private let storage: ItemStorage

    /// - Parameter path: The file on Linux. On Apple's systems, the system has the file.
    public init(service: String, path: String) async throws {
      storage = try await ItemStorage.open(at: VaultPath(path), service: service)
    }

    /// Keeps a token, in the place of the one that is there.
    public func set(_ key: String, _ token: Span<UInt8>) async throws {
      try await storage.set(key, SecretBytes(copying: token))
    }

    /// Lends a token; `nil` where there is none.
    public func withToken<R>(_ key: String, _ body: (Span<UInt8>) throws -> R) async throws -> R? {
      guard let token = try await storage.get(key) else { return nil }
      return try token.exposeElements(body)
    }
  #endif
}
