import COTPKernels
public import SecretMemory

/// Codes of many credentials judged at once: a login server's queue, or a search for whose code this is.
///
/// The keyed midstates of all credentials lie in one piece of secret memory (up to 64 KiB locked, above that kept
/// out of core dumps), and every candidate of every question is computed and compared.
public struct BulkVerifier: ~Copyable, Sendable {
  /// The most credentials that one verifier holds, whatever the algorithm.
  public static let maximumCapacity = 1 << 17

  /// One question: which counter of `window` does this code belong to?
  public struct Query: Sendable, Hashable {
    /// The credential's number, as ``BulkVerifier/add(key:)`` gave it.
    public var credential: Int
    /// The code.
    public var code: OTPCode
    /// The counters or time steps tried.
    public var window: ClosedRange<UInt64>

    /// A question about one credential.
    public init(credential: Int, code: OTPCode, window: ClosedRange<UInt64>) {
      self.credential = credential
      self.code = code
      self.window = window
    }
  }

  /// The hash under the HMAC of every credential.
  public let algorithm: OTPAlgorithm
  /// What the codes of every credential look like.
  public let format: OTPFormat
  /// How many credentials there is room for.
  public let capacity: Int
  /// How many credentials there are.
  public private(set) var count = 0
  private var midstates: SecretBytes
  private let lanes: OTPLanes

  /// A verifier without credentials.
  ///
  /// - Parameter capacity: How many there will be.
  /// - Precondition: `capacity` is 0 to ``maximumCapacity``.
  public init(capacity: Int, algorithm: OTPAlgorithm = .sha1, format: OTPFormat = .sixDigits) {
    self.init(capacity: capacity, algorithm: algorithm, format: format, lanes: .best(for: algorithm))
  }

  /// A verifier that goes one way, for tests of each.
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
  /// - Throws: ``OTPError/emptyKey``.
  /// - Precondition: There is room for it.
  public mutating func add(key: borrowing SecretBytes) throws(OTPError) -> Int {
    try add(HOTPGenerator(key: key, algorithm: algorithm, format: format))
  }

  /// Adds a credential whose key has been hashed already.
  ///
  /// - Returns: Its number, counted from 0.
  /// - Throws: ``OTPError/unknownAlgorithm`` for one of another algorithm.
  /// - Precondition: There is room for it.
  public mutating func add(_ generator: borrowing HOTPGenerator) throws(OTPError) -> Int {
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

  /// For each question the smallest counter of its window that has its code; `nil` for none, and for a code of
  /// another format.
  ///
  /// - Precondition: Each credential has been added, and each window has fewer than 2^63 counters.
  /// - Complexity: One HMAC over 8 bytes per candidate.
  public func firstMatches(of queries: [Query]) -> [UInt64?] {
    var matches: [UInt64?] = []
    matches.reserveCapacity(queries.count)
    for start in stride(from: 0, to: queries.count, by: Self.sliceSize) {
      appendFirstMatches(of: queries[start..<min(start + Self.sliceSize, queries.count)], to: &matches)
    }
    return matches
  }

  /// Questions are put to the lanes in slices that fit the stack and the nearest cache.
  private static let sliceSize = 256

  private func appendFirstMatches(of queries: ArraySlice<Query>, to matches: inout [UInt64?]) {
    unsafe withUnsafeTemporaryAllocation(of: otp_query.self, capacity: queries.count) { questions in
      for (index, query) in queries.enumerated() {
        unsafe questions.initializeElement(at: index, to: question(query))
      }
      midstates.expose { span in
        unsafe span.withUnsafeBytes { midstates in
          unsafe otp_find_all(
            lanes.kernel, algorithm.kernel, midstates.baseAddress, questions.baseAddress, questions.count,
            format.modulus)
        }
      }
      for index in questions.indices {
        let question = unsafe questions[index]
        matches.append(question.found == 0 ? nil : question.match)
      }
    }
  }

  private func question(_ query: Query) -> otp_query {
    precondition((0..<count).contains(query.credential), "BulkVerifier: no such credential")
    let width = query.window.upperBound - query.window.lowerBound
    precondition(width < 1 << 63, "BulkVerifier: window too wide")
    // No value is as large as the modulus: a code of another format is compared like any other, and never found.
    let wanted = query.code.format == format ? query.code.value : format.modulus
    return otp_query(
      first: query.window.lowerBound, count: width + 1, pair: UInt32(query.credential), wanted: wanted,
      found: 0, match: 0)
  }
}
