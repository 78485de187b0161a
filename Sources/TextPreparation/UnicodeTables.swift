import CUnistring

/// What libunistring knows of single characters.
enum UnicodeTables {
  /// - Throws: ``TextPreparationError/libraryMissing``. Nothing below may be called then.
  static func load() throws(TextPreparationError) {
    guard cunistring_load() == 0 else { throw .libraryMissing }
  }

  /// Writes one step of the canonical decomposition of a character.
  ///
  /// - Parameter step: ``longestStep`` characters.
  /// - Returns: How many characters it has; 0 for a character that does not decompose.
  static func decompose(_ character: UInt32, into step: UnsafeMutableBufferPointer<UInt32>) -> Int {
    max(0, Int(unsafe cunistring_decompose(character, step.baseAddress)))
  }

  static func combiningClass(_ character: UInt32) -> Int {
    character < Survey.firstLookedUp ? 0 : Int(cunistring_combining_class(character))
  }

  static func compose(_ starter: UInt32, _ character: UInt32) -> UInt32? {
    let composed = cunistring_compose(starter, character)
    return composed == 0 ? nil : composed
  }

  static let longestStep = cunistring_longest_step
  /// How many steps lead to a full decomposition, at most, with room for later versions of Unicode.
  static let deepest = 8
  /// The most characters of a full canonical decomposition (UAX #15, section 7: a stable limit).
  static let longestDecomposition = 4
}
