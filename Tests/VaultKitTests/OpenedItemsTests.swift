import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Items that are opened after one another share their policy and the memory of their attributes.
@Suite("Opened items", .bounded)
struct OpenedItemsTests {
  private let place = TemporaryVault(environment: .testing())

  /// Verified to fail when the items before are not finished where another policy begins, and when attributes begin
  /// where those of the item before begin.
  @Test("in a list each item has its own attributes and its own policy, whatever its neighbors are")
  func neighbours() throws {
    let core = try place.makeCore()
    try core.write { transaction in
      for index in 0..<300 {
        var new = NewItem(.genericPassword, name: "n\(index)")
        if index % 3 == 0 { new.attributes[.comment] = String(repeating: "c", count: index) }
        // Runs of one policy, longer and shorter than a batch, and a stretch where each item has another.
        let isMixed = (200..<240).contains(index)
        if isMixed ? index % 2 == 0 : index >= 150 { new.audit = .all }
        if index % 100 == 99 { new.access = AccessControl(.afterFirstUnlock) }
        _ = try transaction.add(new, secret: index % 2 == 0 ? SecretBytes(testing: "s") : nil)
      }
    }
    let listed = try core.items(matching: Query())
    var lent: [Item] = []
    try core.read { transaction in
      var walk = ItemWalk()
      while let item = try transaction.next(&walk) { lent.append(item) }
    }
    #expect(listed.count == 300 && lent.count == 300)
    for (index, item) in listed.enumerated() {
      let alone = try core.item(named: "n\(index)")
      for other in [lent[index], alone] {
        #expect(item.id == other.id && item.row == other.row && item.version == other.version)
        #expect(item.attributes == other.attributes && item.attributes.codes == other.attributes.codes)
        #expect(item.access == other.access && item.audit == other.audit && item.expires == other.expires)
        #expect(item.created == other.created && item.modified == other.modified)
        #expect(item.kind == other.kind && item.hasSecret == other.hasSecret)
      }
      #expect(item.name == "n\(index)" && item.hasSecret == (index % 2 == 0))
      #expect(item.attributes[.comment]?.count == (index % 3 == 0 ? index : nil))
      #expect(item.access.accessibility == (index % 100 == 99 ? .afterFirstUnlock : .whenUnlocked))
    }
    var wanted = Attributes()
    wanted[.comment] = String(repeating: "c", count: 150)
    try expect(core.items(matching: Query(where: wanted)).map(\.name), equals: ["n150"])
    #expect(try core.items(matching: Query(limit: 65)).map(\.name) == (0..<65).map { "n\($0)" })
  }

  /// Verified to fail when a part begins with the last row of the part before, when it leaves one out, and when a list ends at
  /// a row that does not open.
  @Test("a list of many is read in parts: each item is in it once, and those that do not open are told")
  func parts() throws {
    let core = try place.makeCore()
    let own = ItemKind(rawValue: 0x8001)
    var items: [Item] = []
    try core.write { transaction in
      for index in 0..<1100 {
        items.append(try transaction.add(NewItem(index % 2 == 0 ? .genericPassword : own, name: "n\(index)")))
      }
    }
    let all = items.map(\.name)
    let ofOwn = items.filter { $0.kind == own }.map(\.name)
    try expect(core.names(nil), equals: all)
    try expect(core.names(own), equals: ofOwn)
    for limit in [0, 1, 255, 256, 257, 511, 512, 513, 550, 551, 1100] {
      try expect(core.names(nil, limit: limit), equals: Array(all.prefix(limit)))
      try expect(core.names(own, limit: limit), equals: Array(ofOwn.prefix(limit)))
    }
    // The first and the last of parts, and one of each kind within.
    let broken = [0, 255, 256, 511, 512, 700, 701, 1099]
    try Intruder(place: place).tamper { store throws(StorageError) in
      for index in broken {
        guard var row = try store.item(row: items[index].row) else { continue }
        row.meta[row.meta.count - 1] ^= 1
        _ = try store.updateItem(row)
      }
    }
    expect(.damaged) { () throws(VaultError) in _ = try core.items(matching: Query()) }
    for kind in [nil, own] {
      var damaged: [ItemID] = []
      let opened = items.indices.filter { !broken.contains($0) && (kind == nil || items[$0].kind == kind) }
      try expect(core.names(kind) { id, _ in damaged.append(id) }, equals: opened.map { all[$0] })
      expect(damaged, equals: broken.map { items[$0].id })
    }
  }

  @Test("a list of more items than keep their pages has each once")
  func many() throws {
    let core = try place.makeCore()
    let all = (0..<4700).map { "n\($0)" }
    try core.write { transaction in
      for name in all { _ = try transaction.add(NewItem(.genericPassword, name: name)) }
    }
    try expect(core.items(matching: Query()).map(\.name), equals: all)
    for limit in [4095, 4096, 4097, 4352, 4353] {
      try expect(core.items(matching: Query(limit: limit)).map(\.name), equals: Array(all.prefix(limit)))
    }
  }

  /// Verified to fail when items are together by their number alone, and when an item that is large by itself is looked
  /// for among those that are not finished.
  @Test("a program that keeps one item of a list does not keep the megabytes of its neighbors")
  func large() async {
    await #expect(processExitsWith: .success) {
      let place = TemporaryVault(environment: .testing())
      defer { withExtendedLifetime(place) {} }
      let core = try place.makeCore()
      let text = String(repeating: "c", count: 64 << 10)
      for index in 0..<60 {
        var new = NewItem(.genericPassword, name: "n\(index)")
        for code in 0..<16 { new.attributes[Attribute<String>(code: 0x8000 + UInt16(code))] = text }
        _ = try core.add(new)
      }
      // What is free goes back to the system; the header that declares this is not in the Glibc module.
      typealias Trim = @convention(c) (Int) -> Int32
      let trim = unsafe unsafeBitCast(dlsym(nil, "malloc_trim")!, to: Trim.self)
      func resident() throws -> Int {
        _ = trim(0)
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return Int(words[1])! * Int(getpagesize())
      }
      var items = try core.items(matching: Query())
      guard items.count == 60 else { fatalError("\(items.count)") }
      let all = try resident()
      let kept = items[30]
      items = []
      let one = try resident()
      guard all - one > 40 << 20 else { fatalError("\(all) -> \(one)") }
      guard kept.name == "n30", try core.item(named: "n30").attributes == kept.attributes else {
        fatalError("another item")
      }
    }
  }

  @Test("attributes taken from a listed item are a value: to change them changes no item")
  func values() throws {
    let core = try place.makeCore()
    for name in ["a", "b"] { _ = try core.add(NewItem(.genericPassword, name: name)) }
    let items = try core.items(matching: Query())
    var changed = items[0].attributes
    changed[.label] = "new"
    changed[.name] = "a longer name"
    #expect(changed[.label] == "new" && changed[.account] == "a")
    changed[.label] = nil
    changed[.name] = "a"
    expect(changed, equals: items[0].attributes)
    #expect(items.map(\.name) == ["a", "b"] && items[1].attributes[.label] == nil)
  }

  enum Content: CaseIterable, Sendable {
    case noAttributes, noPolicy, unknownType, emptyValue, attributesCutShort, attributesDescend, oneByteMore,
      otherPolicy

    func of(_ record: Record) throws -> [UInt8] {
      var record = record
      var attributes = try record.record(1)
      switch self {
      case .noAttributes: record[1] = nil
      case .noPolicy: record[2] = nil
      case .unknownType: attributes[5] = [6, 1]
      case .emptyValue: attributes[5] = []
      case .attributesCutShort: record[1] = Array(attributes.encoded.dropLast())
      case .attributesDescend: record[1] = attributes.encoded + [0, 1, 0, 0, 0, 1, 1]
      case .oneByteMore: return record.encoded + [0]
      case .otherPolicy: record[2] = [1]
      }
      if self == .unknownType || self == .emptyValue { record.set(1, record: attributes) }
      return record.encoded
    }
  }

  /// Verified to fail, for the four contents whose attributes are wrong, when attributes are not checked at the opening
  /// of their item.
  @Test("a sealed value that is not an item is damage as soon as it is opened", arguments: Content.allCases)
  func unreadable(content: Content) throws {
    let core = try place.makeCore()
    for name in ["one", "two"] { _ = try core.add(NewItem(.genericPassword, name: name)) }
    let id = try core.item(named: "two").id
    let intruder = Intruder(place: place)
    let keys = try intruder.keys()
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    var row = try present(try intruder.tamper { store throws(StorageError) in try store.item(row: 2) })
    let data = keys.metaData(row)
    let forged = try content.of(Record(decoding: try seal.open(row.meta, aad: data)))
    row.meta = try seal.seal(forged, aad: data, random: SystemRandom())
    try intruder.tamper { [row] store throws(StorageError) in _ = try store.updateItem(row) }
    var names: [String?] = []
    let reads: [(inout ReadTransaction) throws -> Void] = [
      { transaction in _ = try transaction.items(matching: Query()) },
      { transaction in _ = try transaction.item(id) },
      { transaction in _ = try transaction.item(named: "two") },
      { transaction in
        var walk = ItemWalk()
        while let item = try transaction.next(&walk) { names.append(item.name) }
      },
    ]
    for read in reads {
      let error = #expect(throws: VaultError.self) { try core.read { try read(&$0) } }
      expect(error?.code, equals: .damaged)
    }
    expect(names, equals: ["one"])
  }

  /// Verified to fail when attributes are not checked at the opening of their item.
  @Test(
    "whatever is sealed as an item either is damage or can be read, listed, searched, changed and deleted")
  func mutations() throws {
    let core = try makeThreeItems()
    let id = try core.item(named: "two").id
    let intruder = Intruder(place: place)
    let keys = try intruder.keys()
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    let row = try present(try intruder.tamper { store throws(StorageError) in try store.item(row: 2) })
    let data = keys.metaData(row)
    let content = try seal.open(row.meta, aad: data)
    let random = SeededRandom(seed: 7)
    var (opened, damaged) = (0, 0)
    for _ in 0..<400 {
      var changed = row
      let forged = mutated(content, random)
      changed.meta = try seal.seal(forged, aad: data, random: SystemRandom())
      try intruder.tamper { [changed] store throws(StorageError) in _ = try store.updateItem(changed) }
      do throws(VaultError) {
        let item = try core.reading { transaction throws(VaultError) in try transaction.item(id) }
        opened += 1
        try use(item, core, longest: content.count + 8)
      } catch {
        #expect([.damaged, .unsupported, .malformed].contains(error.code), "\(error)")
        damaged += 1
        try expect(core.item(named: "one").name, equals: "one")
      }
    }
    #expect(opened > 20 && damaged > 20, "\(opened), \(damaged)")
  }

  private func makeThreeItems() throws -> VaultCore {
    let core = try place.makeCore()
    for name in ["one", "two", "three"] {
      var new = NewItem(.genericPassword, name: name)
      new.attributes[.service] = "service"
      new.attributes[.comment] = "a comment"
      _ = try core.add(new, secret: SecretBytes(testing: "s"))
    }
    return core
  }

  private func mutated(_ content: [UInt8], _ random: SeededRandom) -> [UInt8] {
    var forged = content
    for _ in 0...random.below(3) {
      switch random.below(4) {
      case 0: forged[random.below(forged.count)] = UInt8(random.below(256))
      case 1: forged[random.below(forged.count)] ^= 1 << UInt8(random.below(8))
      case 2: forged.remove(at: random.below(forged.count))
      default: forged.insert(UInt8(random.below(3)), at: random.below(forged.count))
      }
    }
    return forged
  }

  /// Reads, lists, searches and verifies the item, and takes its change and its deletion back.
  private func use(_ item: Item, _ core: VaultCore, longest: Int) throws(VaultError) {
    let bytes = item.attributes.codes.map { item.attributes[Attribute<[UInt8]>(code: $0)]?.count ?? 0 }
    #expect(bytes.allSatisfy { $0 < longest })
    _ = (item.name, item.created, item.modified, item.expires, item.access, item.audit)
    let list = try core.items(matching: Query())
    #expect(list.count == 3 && list[1].attributes == item.attributes && list[2].name == "three")
    _ = try core.items(matching: Query(where: item.attributes))
    _ = try core.verify()
    struct Back: Error {}
    #expect(throws: (any Error).self) {
      try core.write { transaction in
        var changes = ItemChanges()
        changes.attributes[.comment] = "another"
        _ = try? transaction.update(item.id, changes)
        _ = try? transaction.delete(item.id)
        throw Back()
      }
    }
  }
}

extension VaultCore {
  /// The names of the items of a kind, or of all, as a list reads them.
  fileprivate func names(
    _ kind: ItemKind?, limit: Int = .max, damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws -> [String?] {
    var query = Query(kind)
    query.limit = limit
    return try reading { transaction throws(VaultError) in
      try transaction.items(matching: query, keepingPages: false, damaged: damaged).map(\.name)
    }
  }
}
