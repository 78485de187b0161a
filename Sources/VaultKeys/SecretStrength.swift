import VaultFormat
public import SecretMemory

/// How hard a passcode, passphrase or password is to guess, in bits: each bit doubles the guesses.
///
/// The rules, made so that a person's choice is not overestimated:
/// - A word counts 11 bits, as one of 2,048; with more than ten letters, 2 bits more for each further letter. A short
///   word or a single letter counts 4.7 bits a letter. A capital letter adds 1 bit. A word begins after any character
///   that is not a letter, and at a capital letter after a small one. A word counts at most twice: further repetitions
///   add nothing.
/// - Words without a space or `-` around them count as random if they have under 3.5 letters on average, or if one has
///   several capitals before small letters. Each of their letters counts 4.7 bits, or 5.7 if the secret has capital and
///   small letters. A word of six or more letters still counts as a word, unless it has such capitals.
/// - A digit counts 3.3 bits; among letters, it counts as much as a letter. Four digits that are a year count 7 bits
///   together.
/// - Three or more equal or consecutive digits or signs, and four or more letters, count 5 bits together: `4321`,
///   `abcd`.
/// - A sign counts 5 bits; the same sign directly after it counts 1 bit. Spaces, `-`, `_` and `.` between words count
///   nothing.
///
/// A good secret has ``enoughBits`` or more: six words drawn from a list, or twelve random letters and digits. The
/// rules do not know birthdays or quotations, so a good number proves nothing.
public struct SecretStrength: Sendable {
  /// The estimate, rounded down.
  public let bitCount: Int

  /// From this number on, guessing is hopeless for a thief who has the files: at a million guesses a second, 64 bits
  /// take 292,000 years on average. With Argon2id, a graphics card makes only some thousands of guesses a second.
  public static let enoughBits = 64

  /// Whether it can be guessed.
  public var isGuessable: Bool { bitCount < Self.enoughBits }

  /// The strength of a secret that a program drew at random, uniformly.
  public init(bitCount: Int) { self.bitCount = bitCount }

  /// The strength of a secret that a person may have chosen.
  public init(of secret: borrowing SecretBytes) {
    bitCount = secret.expose { bytes in
      var estimate = StrengthEstimate(of: bytes)
      estimate.add(bytes)
      return Int(estimate.bits)
    }
  }
}

private enum CharacterKind {
  case small, capital, digit, separator, sign

  /// Bytes of other scripts count as small letters.
  init(_ byte: UInt8) {
    switch byte {
    case 0x61...0x7A, 0x80...: self = .small
    case 0x41...0x5A: self = .capital
    case 0x30...0x39: self = .digit
    case 0x20, 0x2D, 0x2E, 0x5F: self = .separator
    default: self = .sign
    }
  }

  var isLetter: Bool { self == .small || self == .capital }
}

/// The sum over the parts of a secret. It keeps positions, never a byte of the secret.
private struct StrengthEstimate {
  private(set) var bits = 0.0
  private let parts: [Range<Int>]
  private var words: [Range<Int>] = []
  private var bitsOfLetter = 4.7
  /// Whether letters without separators were drawn by chance.
  private var isRandom = false

  init(of bytes: RawSpan) {
    var parts: [Range<Int>] = []
    while (parts.last?.upperBound ?? 0) < bytes.byteCount {
      let start = parts.last?.upperBound ?? 0
      parts.append(start..<Self.end(of: start, in: bytes))
    }
    self.parts = parts
    let all = 0..<bytes.byteCount
    let hasSmall = all.contains { CharacterKind(bytes.byte(at: $0)) == .small }
    let hasCapital = all.contains { CharacterKind(bytes.byte(at: $0)) == .capital }
    if hasSmall, hasCapital { bitsOfLetter = 5.7 }
    let inside = parts.filter {
      CharacterKind(bytes.byte(at: $0.lowerBound)).isLetter && !Self.isAlone(bytes, part: $0)
    }
    isRandom =
      2 * inside.reduce(0) { $0 + $1.count } < 7 * inside.count
      || inside.contains { Self.isMixed(bytes, part: $0) }
  }

  mutating func add(_ bytes: RawSpan) {
    for part in parts { add(bytes, part: part) }
  }

  /// Where the part that begins at `start` ends.
  private static func end(of start: Int, in bytes: RawSpan) -> Int {
    if let run = endOfRun(from: start, in: bytes) { return run }
    let first = CharacterKind(bytes.byte(at: start))
    guard first.isLetter || first == .digit else { return start + 1 }
    var end = start + 1
    while end < bytes.byteCount {
      let kind = CharacterKind(bytes.byte(at: end))
      guard first == .digit ? kind == .digit : kind.isLetter else { break }
      if kind == .capital, CharacterKind(bytes.byte(at: end - 1)) == .small { break }
      end += 1
    }
    return end
  }

  /// Where equal or consecutive characters end; `nil` where there are too few of them.
  private static func endOfRun(from start: Int, in bytes: RawSpan) -> Int? {
    guard start + 2 < bytes.byteCount else { return nil }
    let step = Int(bytes.byte(at: start + 1)) - Int(bytes.byte(at: start))
    guard abs(step) <= 1 else { return nil }
    var end = start + 2
    while end < bytes.byteCount, Int(bytes.byte(at: end)) - Int(bytes.byte(at: end - 1)) == step { end += 1 }
    return end - start >= (CharacterKind(bytes.byte(at: start)).isLetter ? 4 : 3) ? end : nil
  }

  private mutating func add(_ bytes: RawSpan, part: Range<Int>) {
    let kind = CharacterKind(bytes.byte(at: part.lowerBound))
    if Self.endOfRun(from: part.lowerBound, in: bytes) != nil {
      bits += 5
    } else if kind.isLetter {
      addWord(bytes, part: part)
    } else if kind == .digit {
      bits += digits(of: bytes, in: part)
    } else if kind == .sign {
      let isRepeated =
        part.lowerBound > 0 && bytes.byte(at: part.lowerBound - 1) == bytes.byte(at: part.lowerBound)
      bits += isRepeated ? 1 : 5
    }
  }

  private mutating func addWord(_ bytes: RawSpan, part: Range<Int>) {
    let count = Double(part.count)
    let isWord = part.count >= 6 && !Self.isMixed(bytes, part: part)
    guard !isRandom || isWord || Self.isAlone(bytes, part: part) else {
      bits += count * bitsOfLetter
      return
    }
    let earlier = words.count { isSameWord(bytes, one: $0, other: part) }
    words.append(part)
    guard earlier < 2 else { return }
    let hasCapital = part.contains { CharacterKind(bytes.byte(at: $0)) == .capital }
    bits += min(4.7 * count, 11 + 2 * max(0, count - 10)) + (hasCapital ? 1 : 0)
  }

  private func digits(of bytes: RawSpan, in part: Range<Int>) -> Double {
    if part.count == 4, isYear(bytes, at: part.lowerBound) { return 7 }
    let isAmongLetters = isLetter(bytes, at: part.lowerBound - 1) && isLetter(bytes, at: part.upperBound)
    return part.count == 1 && isAmongLetters ? bitsOfLetter : 3.3 * Double(part.count)
  }

  /// Whether it begins with 19 or 20.
  private func isYear(_ bytes: RawSpan, at start: Int) -> Bool {
    switch (bytes.byte(at: start), bytes.byte(at: start + 1)) {
    case (0x31, 0x39), (0x32, 0x30): true
    default: false
    }
  }

  /// Whether it has two capital letters or more before a small one.
  private static func isMixed(_ bytes: RawSpan, part: Range<Int>) -> Bool {
    guard let last = part.last, CharacterKind(bytes.byte(at: last)) == .small else { return false }
    return part.count { CharacterKind(bytes.byte(at: $0)) == .capital } >= 2
  }

  /// Whether a part is between separators or the ends of the secret.
  private static func isAlone(_ bytes: RawSpan, part: Range<Int>) -> Bool {
    [part.lowerBound - 1, part.upperBound].allSatisfy { index in
      index < 0 || index >= bytes.byteCount || CharacterKind(bytes.byte(at: index)) == .separator
    }
  }

  private func isLetter(_ bytes: RawSpan, at index: Int) -> Bool {
    index >= 0 && index < bytes.byteCount && CharacterKind(bytes.byte(at: index)).isLetter
  }

  /// Ignores the difference between capital and small letters.
  private func isSameWord(_ bytes: RawSpan, one: Range<Int>, other: Range<Int>) -> Bool {
    one.count == other.count
      && zip(one, other).allSatisfy { bytes.byte(at: $0) | 0x20 == bytes.byte(at: $1) | 0x20 }
  }
}
