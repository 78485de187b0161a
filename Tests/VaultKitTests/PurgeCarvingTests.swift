import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultKit
import VaultStorage
import VaultTestKit

/// The promise of a purge, from the side of someone who goes through every byte with every key that he has.
///
/// Fails when the epoch is not rotated (the new device key then opens an old copy of the file), and when the file is
/// not written again, pages are not overwritten and the log is not cut (the old bytes are there still).
@Suite("What a purge leaves behind", .bounded)
struct PurgeCarvingTests {
  @Test(
    "the new key finds nothing of what was deleted, in no byte; the old key with an old copy finds it all")
  func carve() throws {
    let place = TemporaryVault()
    let doomed = try fill(place)
    let oldCopy = try bytes(place)
    let old = try Carver(place)
    try purge(place)
    let now = try bytes(place)
    let new = try Carver(place)

    // The old key and an old copy: everything. That the tool finds what is there is half of what it shows.
    expect(old.carve(oldCopy, doomed), equals: Set(doomed.flatMap(\.parts)))
    // Either of them alone, and what is there now: nothing.
    expect(new.carve(oldCopy, doomed), equals: [])
    expect(old.carve(now, doomed), equals: [])
    expect(new.carve(now, doomed), equals: [])
    for victim in doomed {
      for blob in victim.blobs {
        #expect(oldCopy.range(of: blob.suffix(16)) != nil)
        for part in [blob.prefix(48), blob.suffix(48)] { #expect(now.range(of: part) == nil) }
      }
    }
    // And it does find what was kept, with the new key in the new file.
    let kept = try victim(place, named: "kept")
    expect(new.carve(now, [kept]), equals: Set(kept.parts))
  }

  /// An item with what it consists of in the file.
  struct Victim {
    let row: ItemRow
    let material: MaterialRow
    let state: StateRow?
    /// Known to whoever had the device key before.
    var policy: [UInt8]?
    var parts: [String] {
      ["meta", "secret"].map { "\($0) \(row.row)" } + (state == nil ? [] : ["state \(row.row)"])
    }
    var blobs: [Data] {
      [row.meta, material.keys, material.secret].map { Data($0) } + (state.map { [Data($0.body)] } ?? [])
    }
  }

  /// Every key that a device key opens.
  private struct Carver: ~Copyable {
    private let root: SecretBytes
    private let vault: [UInt8]
    private var classKeys: [KeptKey] = []

    final class KeptKey {
      let key: SecretBytes
      init(_ key: consuming SecretBytes) { self.key = key }
    }

    init(_ place: TemporaryVault) throws {
      let intruder = Intruder(place: place)
      let keys = try intruder.keys()
      let slots = try intruder.tamper { store throws(StorageError) in try store.slots() }
      for number in [UInt32(1), 2] { classKeys.append(KeptKey(try keys.classKey(number, slots))) }
      root = keys.root.copy()
      vault = keys.vault
    }

    /// The parts of the victims that open somewhere in the bytes.
    func carve(_ bytes: Data, _ victims: [Victim]) -> Set<String> {
      var found: Set<String> = []
      let all = [UInt8](bytes)
      for start in all.indices.dropLast(2) where all[start] == 1 && (1...2).contains(all[start + 1]) {
        for victim in victims {
          if all[start + 1] == 2 {
            if opens(
              all, start, victim.row.meta.count, Labels.meta, Labels.metaNonce,
              { $0.metaData(victim.row.at($1)) })
            {
              found.insert("meta \(victim.row.row)")
            }
            guard let state = victim.state else { continue }
            if opens(
              all, start, state.body.count, Labels.state, Labels.stateNonce,
              { keys, _ in keys.stateData(victim.row, state) })
            {
              found.insert("state \(victim.row.row)")
            }
          } else if hasSecret(all, start, victim) {
            found.insert("secret \(victim.row.row)")
          }
        }
      }
      return found
    }

    private func opens(
      _ bytes: [UInt8], _ start: Int, _ count: Int, _ label: Label, _ nonce: Label,
      _ data: (borrowing RootKeys, UInt32) -> [UInt8]
    ) -> Bool {
      guard start + count <= bytes.count else { return false }
      let body = Array(bytes[start..<start + count])
      for generation in UInt32(1)...4 {
        let keys = RootKeys(vault: vault, generation: generation, root: root.copy())
        guard let seal = try? keys.seal(label, nonce) else { continue }
        if (try? seal.open(body, aad: data(keys, generation))) != nil { return true }
      }
      return false
    }

    /// The data key, then the secret anywhere.
    private func hasSecret(_ bytes: [UInt8], _ start: Int, _ victim: Victim) -> Bool {
      let count = victim.material.keys.count
      guard start + count <= bytes.count else { return false }
      let body = Array(bytes[start..<start + count])
      for generation in UInt32(1)...4 {
        let keys = RootKeys(vault: vault, generation: generation, root: root.copy())
        var row = victim.row
        row.generation = generation
        guard let policy = victim.policy else { return false }
        for classKey in classKeys {
          let data = keys.keysData(row, policy: policy)
          guard
            let opened = try? CommittingSeal.open(
              body, under: classKey.key, label: Labels.sealKeys, aad: data)
          else { continue }
          let dataKey = opened.expose { SecretBytes(copying: $0.extracting(1..<33)) }
          let secret = victim.material.secret.count
          for other in bytes.indices.dropLast(secret) where bytes[other] == 1 && bytes[other + 1] == 1 {
            let sealed = Array(bytes[other..<other + secret])
            let aad = keys.secretData(row, policy: policy)
            if (try? CommittingSeal.open(sealed, under: dataKey, label: Labels.sealSecret, aad: aad)) != nil {
              return true
            }
          }
        }
      }
      return false
    }
  }

  // MARK: Steps

  private func fill(_ place: TemporaryVault) throws -> [Victim] {
    let core = try place.makeCore()
    for name in ["kept", "doomed", "doomed after first unlock"] {
      var new = NewItem(
        name == "doomed" ? .otp : .genericPassword, name: name,
        access: AccessControl(name.hasSuffix("unlock") ? .afterFirstUnlock : .whenUnlocked))
      new.attributes[.service] = "service of \(name)"
      _ = try core.add(new, secret: SecretBytes(testing: "secret of \(name)"), by: Component(new.kind))
    }
    for index in 0..<60 {
      _ = try core.add(NewItem(.genericPassword, name: "other \(index)"), secret: SecretBytes(testing: "s"))
    }
    return try ["doomed", "doomed after first unlock"].map { try victim(place, named: $0) }
  }

  private func victim(_ place: TemporaryVault, named name: String) throws -> Victim {
    let number = try place.openCore().item(named: name).row
    let keys = try Intruder(place: place).keys()
    var victim = try Intruder(place: place).tamper { store throws(StorageError) -> Victim? in
      guard let row = try store.item(row: number), let material = try store.material(row: number) else {
        return nil
      }
      return Victim(row: row, material: material, state: try store.state(row: number))
    }
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    let row = try present(victim).row
    victim!.policy = try Record(decoding: try seal.open(row.meta, aad: keys.metaData(row))).record(2).encoded
    return try present(victim)
  }

  private func purge(_ place: TemporaryVault) throws {
    let core = try place.openCore()
    for name in ["doomed", "doomed after first unlock"] { try core.delete(Query(name: name)) }
    try core.purge()
    try expect(core.verify().problems, equals: [])
  }

  /// Every byte of every file beside the vault and of the vault, nobody having it open.
  private func bytes(_ place: TemporaryVault) throws -> Data {
    let folder = place.folder + "/data"
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().reduce(into: Data()) {
      all, name in
      all += try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
    }
  }
}

extension ItemRow {
  fileprivate func at(_ generation: UInt32) -> ItemRow {
    var row = self
    row.generation = generation
    return row
  }
}

extension RootKeys {
  fileprivate func stateData(_ row: ItemRow, _ state: StateRow) -> [UInt8] {
    var record = part("state")
    record[2] = row.id.bytes
    record.set(15, u64: state.revision)
    return record.encoded
  }
}
