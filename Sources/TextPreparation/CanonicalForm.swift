import SecretMemory

/// Form C of Unicode (UAX #15): every character is decomposed, the marks after a character are put in order, and what has a
/// composed form is composed.
enum CanonicalForm {
  /// The characters of `text` in form C, as UTF-8.
  ///
  /// - Parameters:
  ///   - text: UTF-8.
  ///   - survey: That of `text`.
  static func compose(_ text: RawSpan, survey: Survey, mapsSpaces: Bool) -> SecretBytes {
    let isLookedUp = survey.highest >= Survey.firstLookedUp
    let steps = UnicodeTables.deepest * UnicodeTables.longestStep
    var work = SecretBytes(zeroes: 4 * (UnicodeTables.longestDecomposition * survey.count + steps))
    return unsafe work.modify { memory in
      var characters = unsafe Characters(memory.bindMemory(to: UInt32.self), keeping: steps)
      var given = UTF8Characters()
      while let character = given.next(in: text) {
        let isMapped = mapsSpaces && UTF8Characters.isOtherSpace(character)
        if isLookedUp, !isMapped {
          characters.appendDecomposed(character)
        } else {
          characters.append(isMapped ? 0x20 : character)
        }
      }
      if isLookedUp {
        characters.sortMarks()
        characters.compose()
      }
      return characters.encoded
    }
  }
}

/// Characters in secret memory that is lent for one preparation.
@safe
private struct Characters {
  private let list: UnsafeMutableBufferPointer<UInt32>
  /// The steps of the decomposition that is under way.
  private let steps: UnsafeMutableBufferPointer<UInt32>
  private var count = 0

  init(_ memory: UnsafeMutableBufferPointer<UInt32>, keeping stepCount: Int) {
    unsafe steps = UnsafeMutableBufferPointer(rebasing: memory[..<stepCount])
    unsafe list = UnsafeMutableBufferPointer(rebasing: memory[stepCount...])
  }

  private subscript(index: Int) -> UInt32 {
    get {
      precondition(0..<count ~= index, "Characters: index \(index)")
      return unsafe list[index]
    }
    nonmutating set {
      precondition(0..<count ~= index, "Characters: index \(index)")
      unsafe list[index] = newValue
    }
  }

  mutating func append(_ character: UInt32) {
    precondition(unsafe count < list.count, "Characters.append: no room")
    unsafe list[count] = character
    count += 1
  }

  /// Appends the full canonical decomposition of a character.
  mutating func appendDecomposed(_ character: UInt32, depth: Int = 0) {
    precondition(depth < UnicodeTables.deepest, "Characters.appendDecomposed: too deep")
    let range = depth * UnicodeTables.longestStep..<(depth + 1) * UnicodeTables.longestStep
    let step = unsafe UnsafeMutableBufferPointer(rebasing: steps[range])
    let partCount = unsafe UnicodeTables.decompose(character, into: step)
    guard partCount > 0 else { return append(character) }
    for index in 0..<partCount { appendDecomposed(unsafe step[index], depth: depth + 1) }
  }

  /// Puts marks after a character in the order of their classes; marks of one class keep theirs.
  func sortMarks() {
    for index in stride(from: 1, to: count, by: 1) {
      let mark = self[index]
      let order = UnicodeTables.combiningClass(mark)
      guard order > 0 else { continue }
      var place = index
      while place > 0, UnicodeTables.combiningClass(self[place - 1]) > order {
        self[place] = self[place - 1]
        place -= 1
      }
      self[place] = mark
    }
  }

  mutating func compose() {
    var (starter, kept): (Int?, Int) = (nil, 0)
    // The class of the character that was kept last; a mark without a character before it lets nothing compose.
    var lastClass = 256
    for index in 0..<count {
      let character = self[index]
      let order = UnicodeTables.combiningClass(character)
      if let starter, lastClass < order || lastClass == 0,
        let composed = UnicodeTables.compose(self[starter], character)
      {
        self[starter] = composed
        continue
      }
      if order == 0 { starter = kept }
      lastClass = starter == nil ? 256 : order
      self[kept] = character
      kept += 1
    }
    count = kept
  }

  /// The characters as UTF-8.
  var encoded: SecretBytes {
    SecretBytes(capacity: 4 * count) { output in
      for index in 0..<count { output.append(utf8: self[index]) }
    }
  }
}

extension OutputRawSpan {
  /// Appends a character as UTF-8.
  fileprivate mutating func append(utf8 character: UInt32) {
    let low = { (shift: UInt32) in UInt8(0x80 | character >> shift & 0x3F) }
    switch character {
    case ..<0x80: append(UInt8(character))
    case ..<0x800:
      append(UInt8(0xC0 | character >> 6))
      append(low(0))
    case ..<0x10000:
      append(UInt8(0xE0 | character >> 12))
      append(low(6))
      append(low(0))
    default:
      append(UInt8(0xF0 | character >> 18))
      append(low(12))
      append(low(6))
      append(low(0))
    }
  }
}
