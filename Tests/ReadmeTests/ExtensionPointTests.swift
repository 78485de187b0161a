public import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
public import VaultKit

/// The parts that another program makes itself: `ExtensionPoints.swift`, which sees only what is public.
@Suite("Prompts, sources and protectors of other programs", .bounded)
struct ExtensionPointTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "parts-\(UUID().uuidString)")
  private var path: VaultPath { VaultPath(folder.path + "/app.vault") }

  /// On commit b5afbda the file does not compile: an error, a kind of protector and a lock cannot be made.
  @Test("compile outside of the package", .requirement("L1"))
  func publicOnly() throws {
    let file = Readme.root.appendingPathComponent("Tests/ReadmeTests/ExtensionPoints.swift")
    try expect(Stranger.complaints(about: String(contentsOf: file, encoding: .utf8)), equals: "")
  }

  @Test("make, open and use a vault", .requirement("L1"))
  func used() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let service = KeyService()
    let asked = Mutex<[[String]]>([])
    let window = WindowPrompt { lines in
      asked.withLock { $0.append(lines) }
      return lines.contains("passcode") ? typed("open sesame") : nil
    }
    var vault = try await Vault.create(
      at: path, protector: service, passcode: Passcode(typed("open sesame")))
    _ = try await vault.enrollLogin(passcode: Passcode(typed("open sesame")))
    _ = try await vault.enrollFingers(of: PalmReader { nil }, passcode: Passcode(typed("open sesame")))
    let door = try await vault.add(guarded("door", by: .userPresence), secret: typed("1234"))
    let safe = try await vault.add(guarded("safe", by: .biometryAny), secret: typed("5678"))
    vault = try await Vault.open(at: path, protector: service)
    try await expect(vault.status().protector, equals: .own(200))
    // The second lock is busy unless the first one was released.
    let id = try await vault.status().vault
    for _ in 0..<2 { #expect(try service.lock(id) != nil) }
    let context = AuthenticationContext(
      reason: "the alarm", prompt: window, presence: Badge { true }, biometry: PalmReader { "left-palm" })
    try await expect(vault.withSecret(of: door.id, context: context) { $0.byteCount }, equals: 4)
    try await expect(vault.withSecret(of: safe.id, context: context) { $0.byteCount }, equals: 4)
    #expect(asked.withLock { $0 }.first?.contains("the alarm") == true)
    let absent = AuthenticationContext(reason: "", biometry: PalmReader { nil })
    let error = await thrown { () async throws(VaultError) in
      _ = try await vault.secret(of: safe.id, context: absent)
    }
    expect(error?.code, equals: .timedOut)
  }

  @Test(
    "a vault with a protector of another program opens only when that protector is given", .requirement("L1"))
  func unnamed() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try await Vault.create(at: path, protector: KeyService())
    let path = path
    let error = await thrown { () async throws(VaultError) in _ = try await Vault.open(at: path) }
    expect(error?.code, equals: .deviceKeyUnavailable)
    let empty = await thrown { () async throws(VaultError) in
      _ = try await Vault.open(at: path, protector: KeyService())
    }
    #expect(empty?.code == .deviceKeyAbsent && empty?.hint == "sign in to the account of the vault")
  }

  @Test("an enum that will grow cannot be switched over without a default", .requirement("L14"))
  func growing() throws {
    func source(_ rest: String) -> String {
      """
      import VaultKit
      func name(_ source: MemberSource) -> Int {
        switch source {
        case .phrase, .finger, .login: 1
        \(rest)
        }
      }
      """
    }
    try expect(Stranger.complaints(about: source("@unknown default: 2")), equals: "")
    #expect(try Stranger.complaints(about: source("")).contains("MemberSource"))
  }

  /// The conformance has no body: the members are in the library, which does not link Foundation.
  @Test("one line makes the errors those of Foundation", .requirement("L14"))
  func localized() throws {
    let error: any Error = VaultError(.busy, "the vault is busy", hint: "try again")
    expect(error.localizedDescription, equals: "the vault is busy")
    #expect((error as? any LocalizedError)?.recoverySuggestion == "try again")
    expect("\(error)", equals: "busy: the vault is busy; try again")
    let lines = ["VaultError", "OTPError"].map { "extension \($0): @retroactive LocalizedError {}\n" }
      .joined()
    let imports = "import Foundation\nimport OneTimePassword\nimport VaultKit\n"
    try expect(Stranger.complaints(about: imports + lines), equals: "")
  }

  private func guarded(_ name: String, by constraint: Constraints) throws -> NewItem {
    try NewItem(.genericPassword, name: name, access: AccessControl(constraint))
  }

  private func thrown(_ body: () async throws(VaultError) -> Void) async -> VaultError? {
    do throws(VaultError) { try await body() } catch { return error }
    return nil
  }
}

extension VaultError: LocalizedError {}

private func typed(_ text: String) -> SecretBytes {
  SecretBytes(capacity: 64) { bytes in for byte in text.utf8 { bytes.append(byte) } }
}
