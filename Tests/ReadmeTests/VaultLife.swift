import SecretMemory
import VaultKit
import VaultPrompts

/// Creates a vault with a passcode, which a private file gives.
func create(at path: VaultPath, keys: any Protector, passcodeFile: String) async throws -> Vault {
  let passcode = try Passcode(.contents(ofFile: passcodeFile))
  return try await Vault.create(at: path, protector: keys, passcode: passcode)
}

/// Asks on the terminal for the passcode. The items of accessibility `whenUnlocked` are open from then on.
func unlock(_ vault: Vault, why: String) async throws {
  try await vault.unlock(with: AuthenticationContext(reason: why, prompt: TerminalPrompt()))
}

/// Stores a token until a moment, in place of the one before. It opens also while the vault is locked, and each reading
/// is logged.
func keep(_ token: consuming SecretBytes, for service: String, until end: Instant, in vault: Vault)
  async throws
{
  var new = NewItem(.genericPassword, name: service, access: AccessControl(.afterFirstUnlock))
  new.attributes[.service] = service
  (new.audit, new.expires, new.expiry) = (.all, end, .refuse)
  try await vault.addOrReplace(new, secret: token)
}

/// Gives the token of a service to another program, whose name the audit log keeps.
func give(_ service: String, of vault: Vault, to caller: Caller, on pipe: Int32) async throws {
  let vault = vault.asked(by: caller)
  try await vault.secret(of: vault.item(named: service).id).write(toDescriptor: pipe)
}

/// Who got the token of a service.
func callers(of service: String, in vault: Vault) async throws -> [Caller] {
  let item = try await vault.item(named: service)
  return try await vault.auditEntries().filter { $0.item == item.id && $0.operation == .itemRead }
    .compactMap(\.caller)
}

/// Writes a backup of the unlocked vault, and restores it to another place, as a test. Returns the names of what is not in it.
func backUp(_ vault: Vault, to path: VaultPath, trial: VaultPath, keys: any Protector, phraseFile: String)
  async throws -> [String?]
{
  func phrase() throws -> Passcode { try Passcode(.contents(ofFile: phraseFile)) }
  let report = try await vault.backUp(to: path, passphrase: phrase()) { print("\($0.done) of \($0.total)") }
  let restored = try await Vault.restore(from: path, passphrase: phrase(), to: trial, protector: keys)
  guard try await restored.vault.verify().problems.isEmpty else { throw VaultError(.damaged, "a bad backup") }
  return report.leftOut.map(\.name)
}
