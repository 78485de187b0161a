import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

@Suite("The actor", .bounded)
struct ActorTests {
  @Test("a credential enrolled through the actor gives each code once under 8 tasks at a time")
  func manyTasks() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    let credential = try await OTPCredential.enroll(
      SecretBytes(testing: "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"), named: "x",
      in: vault)
    let codes = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<8 {
        group.addTask {
          var codes: [String] = []
          for _ in 0..<25 { codes.append(try await credential.nextCode().code) }
          return codes
        }
      }
      return try await group.reduce(into: [String]()) { $0 += $1 }
    }
    let generator = try HOTPGenerator(key: SecretBytes(testing: "12345678901234567890"))
    #expect(codes.sorted() == (0..<200).map { generator.code(at: $0) }.sorted())
  }

  @Test("closures of read and write see and change one state, and fill variables of the caller")
  func transactions() async throws {
    let vault = try TemporaryVault().make()
    let ids = try await vault.write { transaction in
      try (0..<3).map { try transaction.add(NewItem(.genericPassword, name: "n\($0)")).id }
    }
    let names = try await vault.read { transaction in
      try ids.map { try transaction.item($0).name }
    }
    expect(names, equals: ["n0", "n1", "n2"])
    try await expect(vault.verify().problems, equals: [])
  }
}
