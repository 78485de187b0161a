import VaultCrypto
package import VaultFormat
package import VaultStorage

/// What a row adds to the head row's S (section 8).
package struct Summand {
  package let key: GenerationKeys

  package func item(_ row: ItemRow) -> Sum256 { value(1, row.row, row.meta.tag) }
  package func material(_ row: Int64, _ material: MaterialRow) -> Sum256 {
    value(2, row, material.keys.tag, material.secret.tag)
  }
  package func state(_ row: Int64, _ body: [UInt8]) -> Sum256 { value(3, row, body.tag) }
  package func blind(_ row: Int64, _ value: [UInt8]) -> Sum256 { self.value(4, row, value[...]) }

  package func former(_ row: Int64, _ former: FormerRow) -> Sum256 {
    let version = Array(Bytes16(high: 0, low: former.version).bytes.suffix(8))
    return value(5, row, (version + former.meta.tag + former.keys.tag)[...], former.secret.tag)
  }

  package func value(_ table: UInt8, _ row: Int64, _ tag: ArraySlice<UInt8>, _ second: ArraySlice<UInt8> = [])
    -> Sum256
  {
    unsafe withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { code in
      unsafe key.sum.write(to: code) { message in
        // The table's byte, which is the last byte of its word, and the row, both big endian.
        unsafe withUnsafeBytes(of: (UInt64(table).bigEndian, row.bigEndian)) {
          unsafe message.append($0.bytes.extracting(7..<16))
        }
        unsafe tag.withUnsafeBytes { unsafe message.append($0.bytes) }
        unsafe second.withUnsafeBytes { unsafe message.append($0.bytes) }
      }
      return unsafe Sum256(UnsafeRawBufferPointer(code).bytes)
    }
  }
}
