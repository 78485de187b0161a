import SecretMemory
import Synchronization
import VaultKit

/// Asks in a window of the program instead of on the terminal.
struct WindowPrompt: Prompt {
  /// Shows the lines. Returns what the person typed; nil if the person closed the window.
  let window: @Sendable ([String]) -> SecretBytes?

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    guard let answer = window(lines(of: request)) else {
      throw VaultError(.cancelled, "the window was closed")
    }
    return answer
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { window(lines(of: request)) != nil }

  private func lines(of request: PromptRequest) -> [String] {
    let what = request.operation + (request.label.map { " '\($0)'" } ?? "")
    let asker = request.requester?.executable.map { "asked by \($0)" }
    return [request.problem, what, request.reason, asker, request.question ?? "\(request.subject)"]
      .compactMap(\.self)
  }
}

/// Finds out whether a person is there by a badge in a reader. Advisory, like PAM: a badge gives no key.
struct Badge: PresenceSource {
  let isInserted: @Sendable () -> Bool

  func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    prompt.show("insert your badge", for: request)
    guard isInserted() else { throw VaultError(.authenticationFailed, "there is no badge in the reader") }
  }
}

/// A reader of palms. Advisory, like a fingerprint reader: a palm gives no key.
struct PalmReader: BiometrySource {
  /// The palm that is held over the reader; nil if there is none.
  let read: @Sendable () -> String?

  func enrolledFingers() throws(VaultError) -> [String] { ["left-palm", "right-palm"] }

  func verify(
    _ request: PromptRequest, showing progress: (String) -> Void
  ) throws(VaultError) -> String? {
    progress("hold your hand over the reader")
    guard let palm = read() else { throw VaultError(.timedOut, "no hand was held over the reader") }
    return palm
  }
}

/// Keeps device keys in a key service; here the service is this object.
final class KeyService: Protector {
  private final class Entry: Sendable {
    let bytes: SecretBytes
    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
  }
  private let entries = Mutex<[VaultID: [DeviceKeyID: Entry]]>([:])
  private let locked = Mutex<Set<VaultID>>([])
  let kind = ProtectorKind.own(200)

  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState {
    try keys(of: vault).isEmpty ? .absent : .present
  }

  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    guard let entry = entries.withLock({ $0[vault]?[key] }) else {
      throw VaultError(
        .deviceKeyAbsent, "the key service has no such key", hint: "sign in to the account of the vault")
    }
    return try DeviceKey(entry.bytes.expose { SecretBytes(copying: $0) })
  }

  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    let (id, entry) = (key.id, Entry(key.expose { SecretBytes(copying: $0) }))
    entries.withLock { $0[vault, default: [:]][id] = entry }
  }

  func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    entries.withLock { _ = $0[vault]?.removeValue(forKey: key) }
  }

  func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] {
    entries.withLock { $0[vault].map { Array($0.keys) } ?? [] }
  }

  func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? {
    guard locked.withLock({ $0.insert(vault).inserted }) else {
      throw VaultError(.busy, "another program is changing the keys of this vault", hint: "try again")
    }
    return ProtectorLock { [self] in locked.withLock { _ = $0.remove(vault) } }
  }
}
