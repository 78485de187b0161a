import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Parts of a vault that this version opens, in a form that only a newer version knows: nothing removes them but a person who
/// names one of them.
///
/// Verified to fail, each part, when `isNewerVersion` is false for all errors, so that they count as damage.
@Suite("Items and entries of a newer version", .bounded)
struct NewerPartTests {
  enum Part: String, CaseIterable { case meta, rule, keys, secret, state, layout, audit }

  @Test(
    "--drop-damaged stops before anything is changed, and removes nothing", arguments: Part.allCases,
    [false, true])
  func stops(part: Part, isPurge: Bool) throws {
    let vault = try Mixed()
    try vault.makeNewer(part, at: 3)
    try vault.damage(at: 6)
    let before = try vault.core.status()
    var told: [DamagedPart] = []
    expect(.newerFormat) { () throws(VaultError) in
      if isPurge {
        try vault.core.purge(dropDamaged: true) { _ in
        } damaged: {
          told.append($0)
        }
      } else {
        try vault.core.rotateEpoch(dropDamaged: true) { _ in
        } damaged: {
          told.append($0)
        }
      }
    }
    #expect(told.map(\.remedy).filter { $0 == .newerVersion }.count == 1 && told.count == 2)
    #expect(told.filter(\.isRemoved).isEmpty)
    if part != .audit { expect(told.first { $0.remedy == .newerVersion }?.item, equals: vault.ids[3]) }
    let after = try vault.core.status()
    #expect(after.sequence == before.sequence && after.deviceKey == before.deviceKey && !after.isRotating)
    try vault.expectRow(of: 3)
    try vault.expectRow(of: 6)
  }

  @Test(
    "met on the way it pauses the rotation and stays; what is damaged goes",
    // A secret is copied as it is.
    arguments: Part.allCases.filter { $0 != .secret })
  func paused(part: Part) throws {
    let vault = try Mixed()
    try vault.core.beginRotation()
    try vault.makeNewer(part, at: 3)
    try vault.damage(at: 6)
    var told: [DamagedPart] = []
    expect(.newerFormat) { () throws(VaultError) in
      try vault.core.rotateEpoch(dropDamaged: true) { _ in
      } damaged: {
        told.append($0)
      }
    }
    #expect(try vault.core.status().isRotationPaused)
    #expect(told.first { $0.remedy == .newerVersion }?.isRemoved == false)
    #expect(told.first { $0.item == vault.ids[6] }?.isRemoved == true)
    try vault.expectRow(of: 3)
    if part != .audit {
      // A person may remove it, by its identifier; then the rotation ends.
      try vault.core.write { transaction in try transaction.delete(vault.ids[3]) }
      try vault.core.rotateEpoch(dropDamaged: true)
      #expect(!vault.core.isRotating)
      try expect(vault.core.items(matching: Query()).count, equals: 10)
    }
  }

  /// Verified to fail when `list(_:in:)` adds every part to the problems.
  @Test(
    "verify says who made it, and calls only the other item damaged", arguments: Part.allCases, [false, true])
  func verified(part: Part, isOtherDamaged: Bool) throws {
    let vault = try Mixed()
    try vault.makeNewer(part, at: 3)
    if isOtherDamaged { try vault.damage(at: 6) }
    let report = try vault.core.verify()
    let name = part == .audit ? "audit entry 2" : "item \(vault.ids[3])"
    expect(report.newer.count, equals: 1, "\(report.newer)")
    let line = report.newer.first ?? ""
    #expect(line.hasPrefix(name) && line.contains("made by a newer version of this program"), "\(line)")
    // Sealed again by hand, the part has another tag than the sum has.
    let isSummed = part != .rule && part != .layout
    let problems = report.problems.filter { isSummed || !$0.contains("exchanged") }
    #expect(problems.count == (isOtherDamaged ? 1 : 0), "\(problems)")
    #expect(problems.allSatisfy { $0.hasPrefix("item \(vault.ids[6])") })
    #expect(report.isAuditChainChecked == (part != .audit))
  }

  /// Verified to fail when the index is not looked at beside an item that does not open.
  @Test("a row of the index that belongs to no item is reported, also beside an item that does not open")
  func foreignIndexRow() throws {
    let vault = try Mixed()
    try vault.damage(at: 6)
    try Intruder(place: vault.place).tamper { store throws(StorageError) in
      let number = try store.item(id: vault.ids[3].row)!.row
      try store.insertBlind(value: [UInt8](repeating: 7, count: 16), row: number)
    }
    #expect(try vault.core.verify().problems.contains("the index has rows that belong to no item"))
  }

  /// Verified to fail when `damaged(_:_:)` names only the part that it met first: the item is dropped.
  @Test(
    "an item with a secret of a newer version stays, whichever other part is damaged",
    arguments: ["meta", "keys", "state"], [false, true])
  func outweighs(part: String, isMidway: Bool) throws {
    let vault = try Mixed()
    if isMidway { try vault.core.beginRotation() }
    try vault.makeNewer(.secret, at: 3)
    try vault.damage(part, at: 3)
    var told: [DamagedPart] = []
    expect(.newerFormat) { () throws(VaultError) in
      try vault.core.rotateEpoch(dropDamaged: true) { _ in
      } damaged: {
        told.append($0)
      }
    }
    #expect(told.map(\.remedy) == [.newerVersion] && told[0].item == vault.ids[3])
    try vault.expectRow(of: 3)
  }

  @Test("a backup leaves it out and says why", arguments: [Part.meta, .rule, .layout])
  func backup(part: Part) throws {
    let vault = try Mixed()
    try vault.makeNewer(part, at: 3)
    let report = try vault.core.backUp(
      to: vault.place.folder + "/b.vault", passphrase: Passcode(testing: "x"))
    #expect(report.leftOut.map(\.id) == [vault.ids[3]] && report.leftOut[0].reason == .newerVersion)
  }
}

/// Twelve items, the fourth and the seventh for changes.
private struct Mixed {
  let place = TemporaryVault()
  let core: VaultCore
  let ids: [ItemID]

  init() throws {
    core = try place.makeCore()
    ids = try core.write { transaction in
      try (0..<12).map { number in
        var new = NewItem(number % 3 == 0 ? .otp : .genericPassword, name: "n\(number)")
        if number % 3 == 0 {
          new.attributes[.otpType] = 1
          new.attributes[.otpRole] = 1
        }
        return try transaction.add(new, secret: SecretBytes(testing: "secret"), by: Component(new.kind)).id
      }
    }
  }

  func expectRow(of index: Int) throws {
    let row = try Intruder(place: place).tamper { store throws(StorageError) in
      try store.item(id: ids[index].row)
    }
    #expect(row != nil, "the item was removed")
  }

  func damage(at index: Int) throws {
    try change(at: index) { $0.meta[$0.meta.count / 2] ^= 1 }
  }

  func damage(_ part: String, at index: Int) throws {
    guard part != "meta" else { return try damage(at: index) }
    try Intruder(place: place).tamper { store throws(StorageError) in
      let number = try store.item(id: ids[index].row)!.row
      if part == "keys" {
        var material = try store.material(row: number)!
        material.keys[material.keys.count / 2] ^= 1
        try store.setMaterial(material, row: number)
      } else {
        var state = try store.state(row: number)!
        state.body[state.body.count / 2] ^= 1
        try store.setState(state, row: number)
      }
    }
  }

  func makeNewer(_ part: NewerPartTests.Part, at index: Int) throws {
    switch part {
    case .meta: try change(at: index) { $0.meta[0] = 2 }
    case .rule: try addRule(at: index)
    case .layout: try changeLayout(at: index)
    case .keys, .secret, .state, .audit:
      try Intruder(place: place).tamper { store throws(StorageError) in
        let number = try store.item(id: ids[index].row)!.row
        switch part {
        case .keys:
          var material = try store.material(row: number)!
          material.keys[0] = 2
          try store.setMaterial(material, row: number)
        case .secret:
          var material = try store.material(row: number)!
          material.secret[0] = 2
          try store.setMaterial(material, row: number)
        case .state:
          var state = try store.state(row: number)!
          state.body[0] = 2
          try store.setState(state, row: number)
        default:
          var entry = try store.auditEntries(from: 2, limit: 1)[0]
          entry.body[0] = 2
          try store.updateAudit(entry)
        }
      }
    }
  }

  private func change(at index: Int, _ body: (inout ItemRow) -> Void) throws {
    try Intruder(place: place).tamper { store throws(StorageError) in
      var row = try store.item(id: ids[index].row)!
      body(&row)
      try store.updateItem(row)
    }
  }

  /// A constraint that this version does not know, sealed by a program that has the keys.
  private func addRule(at index: Int) throws {
    let intruder = Intruder(place: place)
    let keys = try intruder.keys(generation: 1)
    let row = try intruder.tamper { store throws(StorageError) in try store.item(id: ids[index].row)! }
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    var content = try Record(decoding: seal.open(row.meta, aad: keys.metaData(row)))
    var policy = try Record(decoding: content.bytes(2))
    policy.set(3, u32: 0x20)
    content[2] = policy.encoded
    let meta = try seal.seal(content.encoded, aad: keys.metaData(row), random: SystemRandom())
    try change(at: index) { $0.meta = meta }
  }

  private func changeLayout(at index: Int) throws {
    let intruder = Intruder(place: place)
    let keys = try intruder.keys(generation: 1)
    let (row, state) = try intruder.tamper { store throws(StorageError) in
      let row = try store.item(id: ids[index].row)!
      return (row, try store.state(row: row.row)!)
    }
    let seal = try keys.seal(Labels.state, Labels.stateNonce)
    var data = keys.part("state")
    data[2] = row.id.bytes
    data.set(15, u64: state.revision)
    var content = try seal.open(state.body, aad: data.encoded)
    content[0] = 3
    let body = try seal.seal(content, aad: data.encoded, random: SystemRandom())
    try intruder.tamper { store throws(StorageError) in
      try store.setState(StateRow(revision: state.revision, body: body), row: row.row)
    }
  }
}

extension ItemID {
  fileprivate var row: Bytes16 {
    Bytes16(
      stride(from: 0, to: 32, by: 2).map { start in
        UInt8(String(Array(hexadecimal)[start..<start + 2]), radix: 16)!
      })
  }
}
