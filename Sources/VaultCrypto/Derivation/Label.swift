/// The purpose of a derived key, such as "vault/1/purpose". Two uses of one key never share a label.
package struct Label: Sendable, Hashable {
  package let utf8: [UInt8]

  /// - Precondition: `text` is 1 to 64 bytes of printable ASCII: no NUL, which ends the label in what is hashed.
  package init(_ text: StaticString) {
    utf8 = text.withUTF8Buffer { unsafe Array($0) }
    let isPrintable = utf8.allSatisfy { 0x21...0x7e ~= $0 }
    precondition(1...64 ~= utf8.count && isPrintable, "Label: not 1 to 64 bytes of printable ASCII")
  }
}
