import SecretMemory

/// One output of a program on its way: what is a secret of the mask is replaced, whatever parts it comes in.
///
/// A byte that belongs to any secret is not written, also where secrets overlap. What can no longer be a part of a secret is written at
/// once. What may be the beginning of one is held back until more comes or the stream ends: never more bytes than the longest secret has,
/// and no copy of them, because they are the beginning of a secret that is there.
package struct MaskedStream: ~Copyable {
  private let mask: SecretMask
  /// How much of each secret the stream ends with.
  private var progress: [Int]
  /// Places of secrets that are not written yet, in their order; offsets in the stream.
  private var concealed: [Range<Int>] = []
  /// How many bytes of the stream came, and how many of them are written or replaced.
  private var (seen, written) = (0, 0)
  /// Whether the last of these belongs to a secret, for which the text is written already.
  private var endsConcealed = false

  package init(_ mask: SecretMask) {
    self.mask = mask
    progress = mask.patterns.map { _ in 0 }
  }

  /// How many bytes are held back.
  package var heldCount: Int { seen - written }

  /// Takes the next part of the stream.
  ///
  /// - Parameter write: Gets what can be written now.
  package mutating func take<E: Error>(
    _ part: RawSpan, writing write: (RawSpan) throws(E) -> Void
  ) throws(E) {
    let before = Held(self)
    for (index, pattern) in mask.patterns.enumerated() {
      var found = FoundPlaces()
      pattern.scan(part, progress: &progress[index]) { end in
        found.add(seen + end - pattern.byteCount..<seen + end)
      }
      concealed += found.places
    }
    concealed = FoundPlaces.merged(concealed)
    let start = seen
    seen += part.byteCount
    try writeOut(upTo: seen - (progress.max() ?? 0), held: before, part: part, at: start, write)
  }

  /// Writes what was held back: the stream has ended.
  package mutating func finish<E: Error>(writing write: (RawSpan) throws(E) -> Void) throws(E) {
    let before = Held(self)
    try writeOut(upTo: seen, held: before, part: RawSpan(), at: seen, write)
    progress = progress.map { _ in 0 }
  }

  private mutating func writeOut<E: Error>(
    upTo end: Int, held: Held, part: RawSpan, at start: Int, _ write: (RawSpan) throws(E) -> Void
  ) throws(E) {
    var places = concealed[...]
    while written < end {
      while let place = places.first, place.upperBound <= written { places.removeFirst() }
      let isConcealed = places.first?.contains(written) == true
      let next = min(end, isConcealed ? places.first!.upperBound : places.first?.lowerBound ?? end)
      if isConcealed {
        if !endsConcealed { try unsafe write(Self.text.span.bytes) }
      } else {
        if written < start { try held.lend(written..<min(next, start), write) }
        let first = max(written, start)
        if first < next { try write(part.extracting(first - start..<next - start)) }
      }
      (written, endsConcealed) = (next, isConcealed)
    }
    concealed.removeAll { $0.upperBound <= written }
  }

  private static let text = Array(SecretMask.text.utf8)
}

/// What is held back of a stream: the beginning of the secret of which most was seen.
private struct Held {
  private let pattern: SecretPattern?
  private let start: Int

  init(_ stream: borrowing MaskedStream) {
    start = stream.heldStart
    pattern = stream.heldPattern
  }

  /// Lends bytes by their offsets in the stream.
  func lend<E: Error>(_ range: Range<Int>, _ write: (RawSpan) throws(E) -> Void) throws(E) {
    guard let pattern, !range.isEmpty else { return }
    try pattern.expose { secret throws(E) in
      try write(secret.extracting(range.lowerBound - start..<range.upperBound - start))
    }
  }
}

extension MaskedStream {
  fileprivate var heldStart: Int { written }

  fileprivate var heldPattern: SecretPattern? {
    guard let most = progress.max(), most > 0 else { return nil }
    return progress.firstIndex(of: most).map { mask.patterns[$0] }
  }
}

/// Places of secrets in a stream. Those that touch are one.
private struct FoundPlaces {
  private(set) var places: [Range<Int>] = []

  /// - Parameter place: Begins behind the one before it.
  mutating func add(_ place: Range<Int>) {
    if let last = places.last, place.lowerBound <= last.upperBound {
      places[places.count - 1] = last.lowerBound..<max(last.upperBound, place.upperBound)
    } else {
      places.append(place)
    }
  }

  static func merged(_ places: [Range<Int>]) -> [Range<Int>] {
    var all = FoundPlaces()
    for place in places.sorted(by: { $0.lowerBound < $1.lowerBound }) { all.add(place) }
    return all.places
  }
}
