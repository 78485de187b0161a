import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultKit
import VaultStorage
import VaultTestKit

extension Torture {
  /// The keys of the rows are looked for in the whole memory of a process (R7). Verified to fail when ``RecordSeal`` keeps
  /// its ciphers at a lock, and when OpenSSL's contexts are not freed at the end.
  @Suite("Ciphers of a locked vault", .bounded, .requirement("R7", "K10"), .serialized)
  struct CipherLeaks {
    @Test(
      "the keys of attributes, states, head row and log are in memory while a vault is used, and not after a lock or its end",
      arguments: ["open", "locked", "closed"])
    func memory(state: String) throws {
      try needRoot("keys of rows in the memory of another process")
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore(passcode: "correct horse")
      let keys = try rowKeys(of: vault)
      expect(keys.count, equals: 4)
      let gate = try Gate()
      let holder = try torture("ciphers", vault.folder, "correct horse", state, gate: gate)
      expect(holder.line(), equals: "holding")
      let found = try search(holder.pid, keys)
      gate.open()
      expect(holder.line(), equals: "done")
      expect(holder.wait(), equals: 0)
      // While the vault is open, all keys must be found, or the search proves nothing.
      #expect(found == (state == "open" ? Set(keys.map(\.name)) : []))
    }

    private struct RowKey {
      let name: String
      let bytes: [UInt8]

      /// The forms in which a key and the first round keys of its schedule are kept: in the order of bytes, or of
      /// words.
      var forms: [Data] {
        let words = stride(from: 0, to: bytes.count, by: 4).flatMap { bytes[$0..<$0 + 4].reversed() }
        return [Data(bytes), Data(words)]
      }
    }

    /// Derived from the device key as the format says.
    private func rowKeys(of vault: TemporaryVault) throws -> [RowKey] {
      var store = try Store.open(at: vault.path, access: .readOnly)
      let header = try Record(decoding: try store.header().body)
      let slot = try #require(try store.slots().first { $0.kind == 1 && $0.opener == 1 })
      let names = try FileManager.default.subpathsOfDirectory(atPath: vault.folder + "/state")
      let file = try #require(names.first { $0.hasSuffix(".key") })
      let deviceKey = try #require(FileManager.default.contents(atPath: vault.folder + "/state/" + file))
      var aad = Record()
      aad[1] = try header.bytes(2)
      aad[3] = Array("slot".utf8)
      aad.set(4, u32: slot.generation)
      aad.set(20, u8: slot.kind)
      aad.set(21, u32: slot.subject)
      aad.set(22, u8: slot.opener)
      aad[23] = slot.openerID
      aad.set(25, u8: 1)
      let root = try CommittingSeal.open(
        slot.body, under: SecretBytes(copying: Array(deviceKey)), label: Labels.sealSlot, aad: aad.encoded)
      return [
        ("meta", Labels.meta), ("state", Labels.state), ("head", Labels.head), ("audit", Labels.audit),
      ].map { name, label in
        RowKey(name: name, bytes: HKDF.derive(from: root, label: label).bytesForTesting)
      }
    }

    /// The keys that are anywhere in the memory of a process.
    private func search(_ process: pid_t, _ keys: [RowKey]) throws -> Set<String> {
      var found: Set<String> = []
      try ProcessMemory.forEachRegion(of: process) { data in
        for key in keys where key.forms.contains(where: { data.holds($0) }) {
          found.insert(key.name)
        }
      }
      return found
    }
  }
}
