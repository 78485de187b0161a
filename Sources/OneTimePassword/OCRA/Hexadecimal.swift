/// Hexadecimal digits as OCRA uses them: with an odd number of digits, and as the form of a decimal number.
enum Hexadecimal {
  static let alphabet = Array("0123456789abcdef".utf8)

  /// The characters of `bytes`, two for each.
  static func digits(of bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { [alphabet[Int($0 >> 4)], alphabet[Int($0 & 0x0f)]] }
  }

  /// The bytes of digit values, two for each byte; a zero follows an odd number of them.
  static func bytes(of values: [UInt8]) -> [UInt8] {
    stride(from: 0, to: values.count, by: 2).map { index in
      values[index] << 4 | (index + 1 < values.count ? values[index + 1] : 0)
    }
  }

  /// The digit values of a number that is written in decimal digits: no zeros before it, and one zero for 0.
  static func values(ofDecimal digits: [UInt8]) -> [UInt8] {
    // The least significant value is the first; each decimal digit multiplies them by ten.
    var values: [UInt8] = [0]
    for digit in digits {
      var carry = digit - UInt8(ascii: "0")
      for index in values.indices {
        let product = values[index] * 10 + carry
        values[index] = product & 0x0f
        carry = product >> 4
      }
      if carry > 0 { values.append(carry) }
    }
    return values.reversed()
  }
}
