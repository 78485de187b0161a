package import VaultKit

/// The vaults that an agent keeps open, as one request sees them. A world without an agent has none: each command opens its vault.
package protocol OpenVaults: Sendable {
  /// The absolute path of the vault that the client of this request means; empty if its verb needs none.
  var path: String { get }

  /// The absolute path of the device key that the client names; nil for the standard place.
  var deviceKey: String? { get }

  /// The open vault of a file, serving the client of this request. It is shared by all requests and outlives this one.
  ///
  /// - Parameters:
  ///   - deviceKey: The file that `--device-key` or its variable names; nil for the standard place.
  ///   - open: Opens the vault. Called if it is not open yet.
  /// - Returns: The vault, and whether this call opened it; nil if the agent does not keep this vault.
  /// - Throws: What `open` throws.
  func vault(
    at path: String, deviceKey: String?, open: () throws -> VaultCore
  ) throws -> (core: VaultCore, isNew: Bool)?

  /// What persons have let the program of this request do again in a vault; nil where nothing of this is kept.
  func grants(of core: VaultCore) -> (any StandingGrants)?

  /// This request is about to ask a person for the passcode that unlocks the vault. If another request unlocks it meanwhile, the
  /// prompt ends as cancelled.
  ///
  /// - Returns: False if the vault is unlocked already: nobody is asked.
  func beginAsking(_ core: VaultCore) -> Bool

  /// The prompt of ``beginAsking(_:)`` has ended.
  func endAsking()

  /// A secret of the vault was used: its idle time begins again.
  func used(_ core: VaultCore)

  /// This request has unlocked the vault: its lease begins, and the prompts of requests that wait for the same end.
  func unlocked(_ core: VaultCore)

  /// The passcode of this request has unlocked the vault, and no other request's: the terminal of its command is that of the person who
  /// knows the passcode.
  func provedPasscode(_ core: VaultCore)
}

extension OpenVaults {
  package func grants(of core: VaultCore) -> (any StandingGrants)? { nil }
}
