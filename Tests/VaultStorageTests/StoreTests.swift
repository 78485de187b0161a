import Foundation
import Testing
import VaultStorage

@Suite("The store's rows")
struct StoreTests {
  let folder = TemporaryFolder()

  @Test("a new vault is one file of mode 0600 that holds the first rows")
  func create() throws {
    do {
      var store = try makeVault(at: folder("a.vault"))
      #expect(try store.counts() == RowCounts(items: 3, materials: 3, states: 4, blinds: 3))
      let isReadOnly = store.isReadOnly
      #expect(!isReadOnly)
    }
    #expect(folder.listing.count == 1)
    #expect(folder.listing[0].contains(" 100600 "))
    var store = try Store.open(at: folder("a.vault"), access: .readOnly)
    #expect(try store.header().mac == SeededBytes.of(2, count: 32))
    let isReadOnly = store.isReadOnly
    #expect(isReadOnly)
  }
}
