public import VaultKit

/// An activation to start: what the person says about the credential. The rest comes from the server.
public struct NewActivation: Sendable {
  /// The vault-wide name of the credential, 1–244 bytes of UTF-8 whose characters are all visible. A device credential is
  /// named after it, with `-device`.
  public var name: String
  /// The service that the credential is for, at most 255 bytes; `nil` for what the server says.
  public var service: String?
  /// The account at the service, at most 255 bytes; `nil` for what the server says.
  public var account: String?
  /// When the credential can be used, without constraints. A PIN that is to guard it must have the same accessibility, and be
  /// on this device only if the credential is.
  public var access = AccessControl()

  /// An activation of a credential of this name.
  public init(_ name: String) { self.name = name }

  /// The name of the device credential of a credential.
  static func deviceName(of name: String) -> String { name + "-device" }
  /// The name of an activation that replaces a credential of this name.
  static func replacementName(of name: String) -> String { name + "-activation" }

  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/policy``.
  func check() throws(VaultError) {
    try ItemLimits.check(name: name)
    guard name.utf8.count <= ItemLimits.nameByteCount - 11 else {
      throw VaultError(
        .malformed,
        "the name of a credential with a server is at most \(ItemLimits.nameByteCount - 11) bytes",
        hint: "choose a shorter one: names that are derived from it are longer")
    }
    for text in [service, account].compactMap({ $0 }) {
      guard (1...255).contains(text.utf8.count), VisibleText.flaw(inName: text) == nil else {
        throw VaultError(.malformed, "service and account are 1 to 255 bytes of visible text")
      }
    }
    guard access.constraints.isEmpty else {
      throw VaultError(
        .policy, "a credential with a server has no access rule of its own",
        hint: "the mode of the server says whether a PIN or a biokey guards it")
    }
  }
}
