import Glibc
import VaultKit

/// Descriptions of keys that have a pattern.
///
/// Some compute how likely a pattern makes the key; others, how many of the random keys have as much of the pattern. Where one of several
/// patterns serves, the logarithm of their number is taken off.
extension MaskableKey {
  // MARK: The values of bytes

  /// All bytes below some value: (value/256)^n of the random keys.
  @Sendable static func savingOfSmallBytes(_ bytes: RawSpan) -> Double {
    let largest = (0..<bytes.byteCount).reduce(0) { max($0, bytes.byte(at: $1)) }
    return Double(bytes.byteCount) * (8 - log2(Double(largest) + 1))
  }

  /// All bytes from some value on, as text of East Asia and text with the high bit set.
  @Sendable static func savingOfLargeBytes(_ bytes: RawSpan) -> Double {
    let smallest = (0..<bytes.byteCount).reduce(0xFF) { min($0, bytes.byte(at: $1)) }
    return Double(bytes.byteCount) * (8 - log2(256 - Double(smallest)))
  }

  /// Two decimal digits in each byte, with a filler at the end where their number is odd: (100/256)^n · 1.1.
  @Sendable static func savingOfPackedDigits(_ bytes: RawSpan) -> Double {
    let hasForm = (0..<bytes.byteCount).allSatisfy { index in
      let (high, low) = (bytes.byte(at: index) >> 4, bytes.byte(at: index) & 15)
      return high < 10 && (low < 10 || low == 15 && index == bytes.byteCount - 1)
    }
    return hasForm ? Double(bytes.byteCount) * log2(256 / 100) - log2(1.1) : 0
  }

  /// So many of the bytes are 00, or FF.
  @Sendable static func savingOfFill(_ bytes: RawSpan) -> Double {
    [0x00, 0xFF].reduce(0) { best, fill in
      let count = (0..<bytes.byteCount).count { bytes.byte(at: $0) == fill }
      return max(best, Double(8 * count) - 1 - binomial(bytes.byteCount, count))
    }
  }

  /// Few different bytes, halves or thirds of bytes, or steps between neighbors. The next value is an earlier one, as often as it came, or
  /// any.
  @Sendable static func savingOfFewValues(_ bytes: RawSpan) -> Double {
    func step(_ index: Int) -> UInt8 { bytes.byte(at: index) &- bytes.byte(at: index - 1) }
    return max(
      fewValues(0..<bytes.byteCount, of: 256) { bytes.byte(at: $0) },
      fewValues(0..<bytes.byteCount, of: 16) { bytes.byte(at: $0) & 15 },
      fewValues(0..<bytes.byteCount, of: 8) { bytes.byte(at: $0) >> 5 },
      fewValues(1..<bytes.byteCount, of: 256) { step($0) },
      fewValues(1..<bytes.byteCount, of: 16) { step($0) >> 4 },
      fewValues(1..<bytes.byteCount, of: 256) { bytes.byte(at: $0) ^ bytes.byte(at: $0 - 1) }) - log2(6)
  }

  @inline(__always)
  private static func fewValues(_ range: Range<Int>, of size: Int, _ value: (Int) -> UInt8) -> Double {
    var (saved, ratio) = (0.0, 1.0)
    for index in range {
      let number = value(index)
      let earlier = (range.lowerBound..<index).count { value($0) == number }
      ratio *= Double(size * earlier + 1) / Double(index - range.lowerBound + 1)
      // Logarithms are slow, and a product of many ratios has no room in a number.
      if index % 32 == 31 || index == range.upperBound - 1 { (saved, ratio) = (saved + log2(ratio), 1) }
    }
    return saved
  }

  // MARK: The order of bytes

  /// A run of 00, FF, digits, small letters, capitals, or of one byte. One at an end counts more than one between.
  @Sendable static func savingOfRun(_ bytes: RawSpan) -> Double {
    max(
      run(bytes, from: 0, one: 256) { bytes.byte(at: $0) == 0 },
      run(bytes, from: 0, one: 256) { bytes.byte(at: $0) == 0xFF },
      run(bytes, from: 0, one: 25.6) { 0x30...0x39 ~= bytes.byte(at: $0) },
      run(bytes, from: 0, one: 256.0 / 26) { 0x61...0x7A ~= bytes.byte(at: $0) },
      run(bytes, from: 0, one: 256.0 / 26) { 0x41...0x5A ~= bytes.byte(at: $0) },
      run(bytes, from: 1, one: 256) { bytes.byte(at: $0) == bytes.byte(at: $0 - 1) }) - log2(6)
  }

  /// - Parameter bytesForOne: One in so many bytes belongs to the run by chance.
  private static func run(
    _ bytes: RawSpan, from start: Int, one bytesForOne: Double, _ belongs: (Int) -> Bool
  ) -> Double {
    var (best, length) = (0.0, 0)
    for index in start..<bytes.byteCount {
      length = belongs(index) ? length + 1 : 0
      let isAtEnd = index == bytes.byteCount - 1 || index - length == start - 1
      let places = isAtEnd ? 2 : Double(bytes.byteCount)
      best = max(best, Double(length) * log2(bytesForOne) - log2(2 * places))
    }
    return best
  }

  /// In each distance, bytes that equal an earlier one, or go on by the step of there, or differ from it as their neighbors do: nearly all
  /// of them, or half.
  @Sendable static func savingOfRepetition(_ bytes: RawSpan) -> Double {
    let count = bytes.byteCount
    var best = 0.0
    for distance in 1..<count {
      var (copies, steps, nearSteps, nearDifferences) = (0, 0, 0, 0)
      var last: (step: UInt8, difference: UInt8)?
      for index in distance..<count {
        let (byte, earlier) = (bytes.byte(at: index), bytes.byte(at: index - distance))
        let now = (step: byte &- earlier, difference: byte ^ earlier)
        if now.step == 0 { copies += 1 }
        if index >= 2 * distance, now.step == earlier &- bytes.byte(at: index - 2 * distance) { steps += 1 }
        if now.step == last?.step { nearSteps += 1 }
        if now.difference == last?.difference { nearDifferences += 1 }
        last = now
      }
      let near = max(nearSteps, nearDifferences)
      best = max(
        best, saving(of: copies, among: count - distance), saving(of: steps, among: count - 2 * distance),
        saving(of: near, among: count - distance - 1))
    }
    return best - log2(Double(8 * (count - 1)))
  }

  /// What is saved if so many bytes are foretold with seven of eight to be right, or one of two.
  private static func saving(of hits: Int, among count: Int) -> Double {
    guard hits > 2 else { return 0 }
    let (hits, misses) = (Double(hits), Double(count - hits))
    return max(
      hits * log2(256 * 0.875) + misses * log2(0.125 * 256 / 255),
      hits * log2(256 * 0.5) + misses * log2(0.5 * 256 / 255))
  }

  /// Bytes that only rise, or only fall: there are as many such keys as choices of n of the 256 bytes, with repetition.
  @Sendable static func savingOfOrder(_ bytes: RawSpan) -> Double {
    let steps = 1..<bytes.byteCount
    guard
      steps.allSatisfy({ bytes.byte(at: $0) >= bytes.byte(at: $0 - 1) })
        || steps.allSatisfy({ bytes.byte(at: $0) <= bytes.byte(at: $0 - 1) })
    else { return 0 }
    return Double(8 * bytes.byteCount) - 1 - binomial(bytes.byteCount + 255, bytes.byteCount)
  }

  // MARK: Bits

  /// Bits that are the same in every byte: k such bits in C(8, k) · 2^(-k(n-1)) of the random keys.
  @Sendable static func savingOfConstantBits(_ bytes: RawSpan) -> Double {
    var changing: UInt8 = 0
    for index in 1..<bytes.byteCount { changing |= bytes.byte(at: index) ^ bytes.byte(at: 0) }
    let constant = 8 - changing.nonzeroBitCount
    return Double(constant * (bytes.byteCount - 1)) - binomial(8, constant)
  }

  /// One bit, or the parity, that is the same in most bytes: the tail of the binomial distribution, at both ends, for nine bits.
  @Sendable static func savingOfBiasedBit(_ bytes: RawSpan) -> Double {
    let count = bytes.byteCount
    let fewest = (0...8).reduce(count) { fewest, bit in
      let mask: UInt8 = bit < 8 ? 1 << bit : 0xFF
      let ones = (0..<count).count { (bytes.byte(at: $0) & mask).nonzeroBitCount % 2 == 1 }
      return min(fewest, ones, count - ones)
    }
    guard fewest <= count / 4 else { return 0 }
    let tail = (0...fewest).reduce(0) { $0 + exp2(binomial(count, $1)) }
    return Double(count) - log2(2 * 9 * tail)
  }

  // MARK: Containers

  /// A SEQUENCE of DER whose elements fill it: 2^-16 · (7/2^16 + …), where the further terms are less than a seventh of the first.
  @Sendable static func savingOfDER(_ bytes: RawSpan) -> Double {
    let count = bytes.byteCount
    guard count < 130, bytes.byte(at: 0) == 0x30, Int(bytes.byte(at: 1)) == count - 2 else { return 0 }
    var index = 2
    while index + 1 < count, [0x02, 0x03, 0x04, 0x05, 0x06, 0x30, 0xA0].contains(bytes.byte(at: index)) {
      index += 2 + Int(bytes.byte(at: index + 1))
    }
    return index == count ? 29 : 0
  }

  /// The number of the other bytes in four bytes, in both orders.
  @Sendable static func savingOfLength(_ bytes: RawSpan) -> Double {
    let (number, rest) = (number(in: bytes, at: 0), UInt32(bytes.byteCount - 4))
    return number == rest || number.byteSwapped == rest ? 31 : 0
  }

  /// The seconds since 1970 in eight bytes, in both orders and at both ends, from 2012 to 2046: a quarter of 2^32. In milliseconds,
  /// 2^40 of 2^64 numbers are such times, and 2^-22 of the random keys of any length have one at an end, more than the whole budget.
  @Sendable static func savingOfTime(_ bytes: RawSpan) -> Double {
    let isTime = [0, bytes.byteCount - 8].contains { start in
      let (first, last) = (number(in: bytes, at: start), number(in: bytes, at: start + 4))
      return first == 0 && 0x5...0x8 ~= last >> 28 || last == 0 && 0x5...0x8 ~= first.byteSwapped >> 28
    }
    return isTime ? 32 : 0
  }

  private static func number(in bytes: RawSpan, at start: Int) -> UInt32 {
    (start..<start + 4).reduce(0) { $0 << 8 | UInt32(bytes.byte(at: $1)) }
  }

  /// The CRC-32 of the other bytes, in both orders.
  @Sendable static func savingOfCRC(_ bytes: RawSpan) -> Double {
    var check = ~UInt32(0)
    for index in 0..<bytes.byteCount - 4 {
      check ^= UInt32(bytes.byte(at: index))
      for _ in 0..<8 { check = check >> 1 ^ (check & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    let last = number(in: bytes, at: bytes.byteCount - 4)
    return last == ~check || last.byteSwapped == ~check ? 31 : 0
  }

  /// `JBSWY3DPEHPK3PXP`, with which many examples begin.
  @Sendable static func savingOfExample(_ bytes: RawSpan) -> Double {
    let example = Array("Hello!".utf8) + [0xDE, 0xAD, 0xBE, 0xEF]
    return example.indices.allSatisfy { bytes.byte(at: $0) == example[$0] } ? Double(8 * example.count) : 0
  }

  /// The logarithm of a binomial coefficient.
  private static func binomial(_ count: Int, _ chosen: Int) -> Double {
    (0..<min(chosen, count - chosen)).reduce(0) { $0 + log2(Double(count - $1) / Double($1 + 1)) }
  }
}
