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
  /// - Precondition: Each credential has been added, each window has fewer than 2^63 counters, and the questions are at
  ///   most 2^32.
  /// - Complexity: One HMAC over 8 bytes per candidate.
  public func firstMatches(of queries: [Query]) -> [UInt64?] {
    precondition(queries.count <= 1 << 32, "BulkVerifier.firstMatches: too many questions")
    return unsafe [UInt64?](unsafeUninitializedCapacity: queries.count) { matches, initializedCount in
      unsafe queries.withUnsafeBufferPointer { queries in
        unsafe Candidates.withRoom { candidates in
          unsafe withMidstates { midstates in
            unsafe answer(queries, midstates, &candidates, matches)
          }
        }
      }
      initializedCount = queries.count
    }
  }

  private func answer(
    _ queries: UnsafeBufferPointer<Query>, _ midstates: UnsafeRawPointer?, _ candidates: inout Candidates,
    _ matches: UnsafeMutableBufferPointer<UInt64?>
  ) {
    for index in queries.indices {
      let query = unsafe queries[index]
      let counters = query.window
      precondition((0..<count).contains(query.credential), "BulkVerifier: no such credential")
      precondition(counters.upperBound - counters.lowerBound < 1 << 63, "BulkVerifier: window too wide")
      // No value is as large as the modulus: a code of another format is compared like any other, and never found.
      let wanted = query.code.format == format ? query.code.value : format.modulus
      unsafe matches.initializeElement(at: index, to: nil)
      var counter = counters.lowerBound
      while true {
        unsafe candidates.append(counter, of: query.credential, wanted: wanted, query: index)
        if unsafe candidates.isFull { unsafe judge(&candidates, midstates, matches) }
        guard counter < counters.upperBound else { break }
        counter += 1
      }
    }
    unsafe judge(&candidates, midstates, matches)
  }

  /// Computes and compares all candidates, tells their questions, and makes room again.
  private func judge(
    _ candidates: inout Candidates, _ midstates: UnsafeRawPointer?,
    _ matches: UnsafeMutableBufferPointer<UInt64?>
  ) {
    unsafe otp_compare(
      lanes.kernel, algorithm.kernel, midstates, candidates.pairs, candidates.counters, candidates.wanted,
      candidates.count, format.modulus, candidates.areEqual)
    for index in unsafe 0..<candidates.count where unsafe candidates.areEqual[index] != 0 {
      let query = unsafe Int(candidates.queries[index])
      if unsafe matches[query] == nil { unsafe matches[query] = candidates.counters[index] }
    }
    unsafe candidates.count = 0
  }

  private func withMidstates(_ body: (UnsafeRawPointer?) -> Void) {
    midstates.expose { span in
      unsafe span.withUnsafeBytes { unsafe body($0.baseAddress) }
    }
  }
}

/// What the lanes are given at once, a list for each part: as many candidates as stay in the nearest cache.
@unsafe private struct Candidates {
  private static let capacity = 512
  private static let room = capacity + Int(otp_spare)

  let counters: UnsafeMutablePointer<UInt64>
  let pairs, wanted, areEqual, queries: UnsafeMutablePointer<UInt32>
  var count = 0

  static func withRoom(_ body: (inout Candidates) -> Void) {
    unsafe withUnsafeTemporaryAllocation(byteCount: 24 * room, alignment: 64) { bytes in
      unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
      var candidates = unsafe Candidates(bytes.baseAddress!)
      unsafe body(&candidates)
    }
  }

  private init(_ bytes: UnsafeMutableRawPointer) {
    func list(_ number: Int) -> UnsafeMutablePointer<UInt32> {
      unsafe (bytes + (8 + 4 * number) * Self.room).bindMemory(to: UInt32.self, capacity: Self.room)
    }
    unsafe counters = bytes.bindMemory(to: UInt64.self, capacity: Self.room)
    unsafe pairs = list(0)
    unsafe wanted = list(1)
    unsafe areEqual = list(2)
    unsafe queries = list(3)
  }

  var isFull: Bool { unsafe count == Self.capacity }

  @inline(__always)
  mutating func append(_ counter: UInt64, of credential: Int, wanted code: UInt32, query: Int) {
    unsafe counters[count] = counter
    unsafe pairs[count] = UInt32(truncatingIfNeeded: credential)
    unsafe wanted[count] = code
    unsafe queries[count] = UInt32(truncatingIfNeeded: query)
    unsafe count += 1
  }
}
