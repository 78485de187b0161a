import SecretMemory
import VaultKit

/// The PINs that people choose first, so that thieves try them first. They are refused when a PIN is set, and never when
/// one is used.
enum CommonPINs {
  /// - Throws: ``VaultError/Code/pinRefused``.
  static func refuse(_ pin: borrowing PIN, of mode: PINMode) throws(VaultError) {
    let isRefused = pin.bytes.expose { digits in
      guard mode == .camouflaged else { return isCommon(digits) }
      // Zeros on the right do not count, so 123400 is found as soon as 1234.
      return (min(4, digits.byteCount)...digits.byteCount).contains { length in
        isZero(digits.extracting(length...)) && isCommon(digits.extracting(..<length))
      }
    }
    guard !isRefused else {
      throw VaultError(
        .pinRefused, "that PIN is among the first that a thief tries",
        hint: "choose digits without a pattern: no run, no repetition, no year")
    }
  }

  private static func isCommon(_ digits: RawSpan) -> Bool {
    isRun(digits) || isRepeated(digits) || isYear(digits) || isMostUsed(digits)
  }

  private static func isZero(_ digits: RawSpan) -> Bool {
    (0..<digits.byteCount).allSatisfy { digits.value(at: $0) == 0 }
  }

  /// 1234, 6543, 7890: each digit is the one before plus or minus 1.
  private static func isRun(_ digits: RawSpan) -> Bool {
    [1, 9].contains { step in
      (1..<digits.byteCount).allSatisfy {
        (digits.value(at: $0 - 1) + step) % 10 == digits.value(at: $0)
      }
    }
  }

  /// 1111, 4545, 123123: a group of at most half of the digits, again and again.
  private static func isRepeated(_ digits: RawSpan) -> Bool {
    (1...max(1, digits.byteCount / 2)).contains { period in
      digits.byteCount % period == 0
        && (period..<digits.byteCount).allSatisfy { digits.value(at: $0) == digits.value(at: $0 - period) }
    }
  }

  /// 1900 to 2099.
  private static func isYear(_ digits: RawSpan) -> Bool {
    guard digits.byteCount == 4 else { return false }
    let century = digits.value(at: 0) * 10 + digits.value(at: 1)
    return century == 19 || century == 20
  }

  private static func isMostUsed(_ digits: RawSpan) -> Bool {
    mostUsed.contains { candidate in
      candidate.utf8.count == digits.byteCount
        && zip(candidate.utf8, 0...).allSatisfy { $0 == digits.byte(at: $1) }
    }
  }

  /// What the rules above leave of the lists of the most used PINs.
  private static let mostUsed = [
    "0007", "0070", "0852", "1001", "1004", "1010", "1100", "1110", "1112", "1122", "1133", "1144", "1201",
    "1221", "1225", "1230", "1233", "1236", "1313", "1331", "1342", "1379", "1470", "1478", "1590", "2112",
    "2211", "2233", "2244", "2468", "2580", "2589", "3210", "3344", "4200", "4455", "5566", "5683", "6677",
    "6969", "7410", "7788", "7531", "8520", "8524", "8899", "9510", "9630", "9874", "01230", "10000", "11223",
    "12321", "13579", "24680", "25800", "54320", "69420", "75395", "85200", "98760", "001100", "007007",
    "100000", "101112", "110000", "111222", "112233", "121314", "123000", "123321", "123654", "123789",
    "131415", "134679", "135790", "142536", "147258", "147852", "147896", "159357", "159753", "192837",
    "246810", "252525", "258000", "258456", "321123", "321654", "332211", "420420", "445566", "456789",
    "520520", "654123", "741852", "753951", "778899", "789123", "789456", "852456", "951753", "963852",
    "987123", "999000", "998877",
  ]
}

extension RawSpan {
  fileprivate func value(at offset: Int) -> Int { Int(byte(at: offset)) - 0x30 }
}
