import COTPKernels
package import SecretMemory

/// Judges the codes of many credentials at once: for the queue of a login server, or to find the credential of a
/// code.
///
/// The keyed midstates of all credentials are in one piece of secret memory (up to 64 KiB locked, above that kept
/// out of core dumps). Every candidate of every question is computed and compared.
package struct BulkVerifier: ~Copyable, Sendable {
  /// The most credentials that one verifier holds, whatever the algorithm.
  package static let maximumCapacity = 1 << 17

  /// One question: which counter of `window` does this code belong to?
  package struct Query: Sendable, Hashable {
    /// The credential's number, as ``BulkVerifier/add(key:)`` gave it.
    package var credential: Int
    /// The code.
    package var code: OTPCode
    /// The counters or time steps tried.
    package var window: ClosedRange<UInt64>

    /// A question about one credential.
    package init(credential: Int, code: OTPCode, window: ClosedRange<UInt64>) {
      self.credential = credential
      self.code = code
      self.window = window
    }
  }

  /// The hash under the HMAC of every credential.
  package let algorithm: OTPAlgorithm
  /// What the codes of every credential look like.
  package let format: OTPFormat
  /// How many credentials fit.
  package let capacity: Int
  /// How many credentials there are.
  package private(set) var count = 0
  private var midstates: SecretBytes
  private let lanes: OTPLanes

  /// A verifier without credentials.
  ///
  /// - Parameters:
  ///   - capacity: How many there will be.
  ///   - algorithm: The hash under the HMAC, the same for all.
  ///   - format: The format of the codes, the same for all.
  /// - Precondition: `capacity` is 0 to ``maximumCapacity``.
  package init(capacity: Int, algorithm: OTPAlgorithm = .sha1, format: OTPFormat = .sixDigits) {
    self.init(capacity: capacity, algorithm: algorithm, format: format, lanes: .best(for: algorithm))
  }

  /// A verifier that uses the given lanes, so that a test can cover each.
  package init(
    capacity: Int, algorithm: OTPAlgorithm, format: OTPFormat, lanes: OTPLanes
  ) {
    precondition((0...Self.maximumCapacity).contains(capacity), "BulkVerifier: capacity out of range")
    precondition(lanes.isSupported(for: algorithm), "BulkVerifier: this processor has no such lanes")
    let midstates = SecretBytes(zeroes: capacity * algorithm.midstateByteCount)
    self.algorithm = algorithm
    self.format = format
    self.capacity = capacity
    self.midstates = midstates
    self.lanes = lanes
  }

  /// Adds a credential.
  ///
  /// - Returns: Its number, counted from 0.
  /// - Throws: ``OTPError/Code/emptyKey``.
  /// - Precondition: There is room for it.
  package mutating func add(key: borrowing SecretBytes) throws(OTPError) -> Int {
    try add(HOTPGenerator(key: key, algorithm: algorithm, format: format))
  }

  /// Adds a credential whose key has been hashed already.
  ///
  /// - Returns: Its number, counted from 0.
  /// - Throws: ``OTPError/Code/unknownAlgorithm`` for one of another algorithm.
  /// - Precondition: There is room for it.
  package mutating func add(_ generator: borrowing HOTPGenerator) throws(OTPError) -> Int {
    guard generator.algorithm == algorithm else { throw .unknownAlgorithm }
    precondition(count < capacity, "BulkVerifier.add: no room for another credential")
    let size = algorithm.midstateByteCount
    let offset = count * size
    unsafe midstates.modify { bytes in
      unsafe generator.copyMidstates(
        to: UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + size]))
    }
    count += 1
    return count - 1
  }

  /// For each question, the smallest counter of its window that has its code; `nil` for no match, and for a code of
  /// another format.
  ///
  /// - Precondition: Each credential has been added, each window has fewer than 2^63 counters, and there are at
  ///   most 2^32 questions.
  /// - Complexity: One HMAC over 8 bytes per candidate.
  package func firstMatches(of queries: [Query]) -> [UInt64?] {
    precondition(queries.count <= 1 << 32, "BulkVerifier.firstMatches: too many questions")
    return unsafe [UInt64?](unsafeUninitializedCapacity: queries.count) { matches, initializedCount in
      unsafe queries.withUnsafeBufferPointer { queries in
        midstates.expose { span in
          unsafe span.withUnsafeBytes { unsafe answer(queries, midstates: $0.baseAddress, matches: matches) }
        }
      }
      initializedCount = queries.count
    }
  }

  /// Answers all questions, a lot of candidates at a time.
  ///
  /// The next lot is filled before a lot is computed. Filling uses none of the units that hash, so the processor
  /// does much of it while the previous lot is still being computed. And when the turn of a lot comes, its
  /// midstates are already in the cache.
  private func answer(
    _ queries: UnsafeBufferPointer<Query>, midstates: UnsafeRawPointer?,
    matches: UnsafeMutableBufferPointer<UInt64?>
  ) {
    unsafe withUnsafeTemporaryAllocation(of: otp_lot.self, capacity: 2) { lots in
      unsafe lots.initialize(repeating: otp_lot())
      var lot = lots.baseAddress!
      var next = unsafe lot + 1
      var candidate = Candidate()
      var count = 0
      repeat {
        let nextCount = unsafe fill(
          next, after: &candidate, queries: queries, midstates: midstates, matches: matches)
        let equal = unsafe otp_compare(
          lanes.kernel, algorithm.kernel, midstates, lot, count, format.modulus)
        unsafe tell(equal, of: lot, matches: matches)
        unsafe swap(&lot, &next)
        count = nextCount
      } while count > 0
      otp_wipe(lanes.kernel)
    }
  }

  /// Fills a lot with the candidates after the last one, and returns their number.
  @inline(__always)
  private func fill(
    _ lot: UnsafeMutablePointer<otp_lot>, after candidate: inout Candidate,
    queries: UnsafeBufferPointer<Query>, midstates: UnsafeRawPointer?,
    matches: UnsafeMutableBufferPointer<UInt64?>
  ) -> Int {
    let credentials = 0..<count
    let size = algorithm.midstateByteCount
    let format = format
    let modulus = format.modulus
    for slot in 0..<otp_lot_size {
      if candidate.counter < candidate.last {
        candidate.counter += 1
      } else {
        guard candidate.query + 1 < queries.count else { return slot }
        candidate.query += 1
        let query = unsafe queries[candidate.query]
        let window = query.window
        precondition(credentials.contains(query.credential), "BulkVerifier: no such credential")
        precondition(window.upperBound &- window.lowerBound < 1 << 63, "BulkVerifier: window too wide")
        unsafe otp_prefetch(midstates, query.credential, size)
        unsafe matches.initializeElement(at: candidate.query, to: nil)
        candidate.pair = UInt32(truncatingIfNeeded: query.credential)
        candidate.counter = window.lowerBound
        candidate.last = window.upperBound
        // No value is as large as the modulus, so a code of another format is compared like any other and never
        // found.
        candidate.wanted = query.code.format == format ? query.code.value : modulus
      }
      unsafe otp_put(
        lot, slot, candidate.pair, candidate.counter, candidate.wanted,
        UInt32(truncatingIfNeeded: candidate.query))
    }
    return otp_lot_size
  }

  /// Answers the questions whose candidates match, unless a smaller candidate did.
  @inline(__always)
  private func tell(
    _ equal: UInt32, of lot: UnsafeMutablePointer<otp_lot>, matches: UnsafeMutableBufferPointer<UInt64?>
  ) {
    var rest = equal
    while rest != 0 {
      let slot = rest.trailingZeroBitCount
      let query = unsafe Int(otp_tag(lot, slot))
      if unsafe matches[query] == nil { unsafe matches[query] = otp_counter(lot, slot) }
      rest &= rest - 1
    }
  }
}

/// One counter of one question.
private struct Candidate {
  var query = -1
  var pair: UInt32 = 0
  var wanted: UInt32 = 0
  var counter: UInt64 = 0
  /// The last counter of the question's window.
  var last: UInt64 = 0
}
