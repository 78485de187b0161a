import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultKit
import VaultTestKit

extension Torture {
  /// R16. Verified to fail when the salt of the committing seal is made from the random bytes alone.
  @Suite("Failing and repeating randomness", .bounded, .requirement("R16"), .serialized)
  struct Randomness {
    @Test("a random generator that fails stops the operation, which writes nothing")
    func fails() throws {
      let random = BadRandom()
      let vault = TemporaryVault(environment: .testing(random: random), in: Place.fast)
      let core = try vault.makeCore()
      try core.addTestHOTP("counter")
      let item = try core.add(NewItem(.genericPassword, name: "item"), secret: SecretBytes(testing: "first"))
      let operations: [(String, () throws -> Void)] = [
        (
          "add",
          { _ = try core.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "x")) }
        ),
        ("update", { try core.update(item.id, ItemChanges(), secret: SecretBytes(testing: "second")) }),
        ("code", { _ = try core.nextHOTPCode(of: core.item(named: "counter").id) }),
        ("passcode", { try core.setPasscode(Passcode(testing: "passcode")) }),
      ]
      for (name, operation) in operations {
        var failures = 0
        while true {
          let before = try state(core)
          random.failing(after: failures)
          do {
            try operation()
            random.failing(after: nil)
            break
          } catch is VaultError {
            random.failing(after: nil)
            failures += 1
            try expect(state(core), equals: before, "\(name) wrote something at failure \(failures)")
          }
        }
        #expect(failures > 0, "\(name) takes no random bytes")
      }
      try expect(vault.openCore().verify().problems, equals: [])
    }

    @Test("a generator that repeats its bytes makes no two equal keystreams")
    func repeats() throws {
      try Shell.need("sqlite3")
      let random = BadRandom()
      let vault = TemporaryVault(environment: .testing(random: random), in: Place.fast)
      let core = try vault.makeCore()
      try core.addTestHOTP("counter")
      let item = try core.add(NewItem(.genericPassword, name: "item"), secret: SecretBytes(testing: "start"))
      random.repeating(true)
      var secrets: [(plain: [UInt8], sealed: [UInt8])] = []
      var others: [[UInt8]] = []
      for number in 0..<20 {
        let plain = Array("secret number \(number % 2) of the same length".utf8)
        try core.update(item.id, ItemChanges(), secret: SecretBytes(copying: plain))
        _ = try core.nextHOTPCode(of: core.item(named: "counter").id)
        secrets.append((plain, try blob(vault, "SELECT hex(secret) FROM material WHERE row = \(item.row)")))
        others.append(try blob(vault, "SELECT hex(body) FROM head"))
        others.append(try blob(vault, "SELECT hex(body) FROM state WHERE row <> 0"))
      }
      expect(
        Set(secrets.map { $0.sealed[2..<34].map { $0 } }).count, equals: secrets.count, "a salt came twice")
      for (index, one) in secrets.enumerated() {
        for other in secrets[..<index] {
          #expect(
            difference(one.sealed[66...], other.sealed[66...]) != difference(one.plain[...], other.plain[...])
          )
        }
      }
      expect(Set(others.map { $0[6..<18].map { $0 } }).count, equals: others.count, "a nonce came twice")
    }

    private func state(_ core: VaultCore) throws -> String {
      let status = try core.status()
      return
        "\(status.sequence) \(status.itemCount) \(status.config) \(status.auditSequence) \(status.hasPasscode)"
    }

    private func blob(_ vault: TemporaryVault, _ sql: String) throws -> [UInt8] {
      let text = Array(try Command.run("sqlite3", [vault.path, sql]).utf8)
      return stride(from: 0, to: text.count, by: 2).compactMap {
        UInt8(String(decoding: text[$0..<$0 + 2], as: UTF8.self), radix: 16)
      }
    }

    private func difference(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> [UInt8] {
      zip(one, other).map { $0 ^ $1 }.prefix(36).map { $0 }
    }
  }

  /// Random bytes that fail after so many calls, or are always the same.
  final class BadRandom: RandomSource {
    private struct Fault {
      var callsLeft: Int?
      var isRepeating = false
    }
    private let fault = Mutex(Fault())

    func failing(after calls: Int?) { fault.withLock { $0.callsLeft = calls } }
    func repeating(_ on: Bool) { fault.withLock { $0.isRepeating = on } }

    func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
      let (hasFailed, isRepeating) = fault.withLock { fault in
        if let left = fault.callsLeft {
          if left == 0 { return (true, false) }
          fault.callsLeft = left - 1
        }
        return (false, fault.isRepeating)
      }
      if hasFailed { throw .randomUnavailable }
      if isRepeating {
        for index in bytes.indices { unsafe bytes[index] = 0x42 }
      } else {
        try unsafe SystemRandom().fill(bytes)
      }
    }
  }
}
