/// What a first look at text finds: whether and how it must be prepared.
struct Survey {
  /// How many characters it has.
  private(set) var count = 0
  /// The highest of them, other spaces left out where they are mapped.
  private(set) var highest: UInt32 = 0
  private var hasMappedSpace = false

  /// - Returns: `nil` for bytes that are no UTF-8.
  init?(of bytes: RawSpan, mapsSpaces: Bool) {
    var characters = UTF8Characters()
    while let character = characters.next(in: bytes) {
      count += 1
      if mapsSpaces, UTF8Characters.isOtherSpace(character) {
        hasMappedSpace = true
      } else {
        highest = max(highest, character)
      }
    }
    guard !characters.isMalformed else { return nil }
  }

  /// Whether the prepared text may differ from the given one.
  var mayChange: Bool { hasMappedSpace || highest >= Self.firstLookedUp }

  /// The first combining mark. Text below it is in form C, now and in every later version of Unicode.
  static let firstLookedUp: UInt32 = 0x300
}
