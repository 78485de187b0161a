/// The SQLite library of the system: its version, and whether that is new enough.
package enum SQLiteLibrary {
  /// 3.40.0, the version of Debian 12: the oldest that the tests run with. `STRICT` tables and 64-bit change counts
  /// came with 3.37; an older library reads the schema of a vault as damage.
  package static let oldest: Int32 = 3_040_000

  /// - Parameter number: The number that the library reports, `3_040_001` for 3.40.1.
  /// - Throws: ``StorageError/oldLibrary(version:)``
  package static func check(_ number: Int32) throws(StorageError) {
    guard number >= oldest else { throw .oldLibrary(version: text(of: number)) }
  }

  /// `3.40.1`
  package static func text(of number: Int32) -> String {
    "\(number / 1_000_000).\(number / 1_000 % 1_000).\(number % 1_000)"
  }
}
