import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("Codes of many credentials at once", .bounded)
struct BulkVerifierTests {
  @Test("each question gets what its own generator answers", arguments: LanePath.all)
  func questions(_ path: LanePath) throws {
    try path.need()
    var random = SeededGenerator(seed: 6238)
    let keys = (0..<50).map { _ in
      (0..<Int.random(in: 1...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var verifier = BulkVerifier(
      capacity: 50, algorithm: path.algorithm, format: .sixDigits, lanes: path.lanes)
    for (index, key) in keys.enumerated() { try expect(verifier.add(key: secret(key)), equals: index) }
    var queries: [BulkVerifier.Query] = []
    var expected: [UInt64?] = []
    for _ in 0..<300 {
      let credential = Int.random(in: 0..<50, using: &random)
      let generator = try path.generator(keys[credential])
      let starts: [UInt64] = [0, .max - 2000, random.next() >> 1]
      let first = starts.randomElement(using: &random)!
      let window = first...(first + UInt64.random(in: 0...20, using: &random))
      let counter = first + UInt64.random(in: 0...30, using: &random)
      let code = try OTPCode(generator.code(at: counter))
      queries.append(BulkVerifier.Query(credential: credential, code: code, window: window))
      expected.append(generator.firstMatch(of: code, in: window))
    }
    expect(verifier.firstMatches(of: queries), equals: expected)
    #expect(expected.contains(nil))
    #expect(expected.contains { $0 != nil })
  }

  @Test("any number of questions, of windows of any width, gets what OpenSSL says", arguments: LanePath.all)
  func edges(_ path: LanePath) throws {
    try path.need()
    var bench = try Bench(path: path, keys: 37)
    for count in OTPLanesTests.edges {
      // One candidate each, then one to five, so that lots end within a window.
      for widest in [1, 5] as [UInt64] {
        let questions = try (0..<count).map { number in
          let width = 1 + UInt64(number) * 7 % widest
          let first = number % 2 == 0 ? 90 : (1 << 32) - 2 as UInt64
          let wanted = number % 3 == 0 ? first + width : number % 3 == 1 ? first : first + width - 1
          return try bench.question(credential: number % 37, first...first + width - 1, codeOf: wanted)
        }
        let expected = questions.map { bench.answer($0) }
        let matches = bench.verifier.firstMatches(of: questions)
        expect(matches, equals: expected, "\(count) questions, \(widest) wide")
      }
    }
  }

  @Test("windows that end where lots of 32 end find their first and their last", arguments: LanePath.all)
  func lotEdges(_ path: LanePath) throws {
    try path.need()
    var bench = try Bench(path: path, keys: 3)
    for before in [0, 1, 31] as [UInt64] {
      for width in [1, 31, 32, 33, 63, 64, 65, 1024] as [UInt64] {
        let questions = [
          try bench.question(credential: 0, 7...7 + before, codeOf: 7 + before),
          try bench.question(credential: 1, 20...19 + width, codeOf: 20),
          try bench.question(credential: 2, 20...19 + width, codeOf: 19 + width),
          try bench.question(credential: 1, 20...19 + width, codeOf: 20 + width),
        ]
        let expected = questions.map { bench.answer($0) }
        let matches = bench.verifier.firstMatches(of: questions)
        expect(matches, equals: expected)
      }
    }
  }

  // Verified to fail when the counter after the next decides whether a window continues.
  @Test(
    "windows of mixed widths that end with the last counter there is are searched to it",
    arguments: LanePath.all)
  func lastCounter(_ path: LanePath) throws {
    try path.need()
    var bench = try Bench(path: path, keys: 5)
    var questions: [BulkVerifier.Query] = []
    for (number, width) in ([1, 2, 31, 1, 32, 33, 300, 1, 1] as [UInt64]).enumerated() {
      let first = UInt64.max - (width - 1)
      for counter in [.max, first, 0] {
        questions.append(try bench.question(credential: number % 5, first ... .max, codeOf: counter))
        // A counter that the window after it begins with again.
        questions.append(try bench.question(credential: number % 5, 0...0, codeOf: counter))
      }
    }
    let expected = questions.map { bench.answer($0) }
    let matches = bench.verifier.firstMatches(of: questions)
    expect(matches, equals: expected)
    #expect(expected.contains(.max) && expected.contains(nil) && expected.contains(0))
  }

  // Verified to fail when a later match takes the place of an earlier one.
  @Test(
    "of two matches the smaller one is found on every way",
    // The twins are those of SHA-1.
    arguments: LanePath.all.filter { $0.algorithm == .sha1 }, twins)
  func smallestMatch(_ path: LanePath, _ pair: ClosedRange<UInt64>) throws {
    try path.need()
    let generator = try path.generator(Array("12345678901234567890".utf8))
    var verifier = BulkVerifier(capacity: 1, algorithm: .sha1, format: .sixDigits, lanes: path.lanes)
    _ = try verifier.add(generator)
    let code = try OTPCode(generator.code(at: pair.lowerBound))
    expect(generator.firstMatch(of: code, in: pair), equals: pair.lowerBound)
    expect(generator.firstMatch(of: code, in: pair.lowerBound + 1...pair.upperBound), equals: pair.upperBound)
    let queries = (pair.lowerBound - 20...pair.lowerBound).map {
      BulkVerifier.Query(credential: 0, code: code, window: $0...pair.upperBound)
    }
    expect(verifier.firstMatches(of: queries), equals: queries.map { _ in pair.lowerBound })
  }

  @Test("a window wider than many lots is searched whole, and the first match wins")
  func wideWindow() throws {
    var verifier = BulkVerifier(capacity: 1)
    _ = try verifier.add(key: rfcKey())
    let generator = try HOTPGenerator(key: rfcKey())
    for counter in [0, 1023, 1024, 4999] as [UInt64] {
      let code = try OTPCode(generator.code(at: counter))
      let first = generator.firstMatch(of: code, in: 0...4999)
      let query = BulkVerifier.Query(credential: 0, code: code, window: 0...4999)
      expect(verifier.firstMatches(of: [query, query]), equals: [first, first])
    }
  }

  // Verified to fail when the entries that complete a lot are asked about too.
  @Test("what completes a lot matches nobody's code")
  func incompleteLot() throws {
    let key = secret("199233")  // its first code is 000000
    try expect(HOTPGenerator(key: key).code(at: 0), equals: "000000")
    var verifier = BulkVerifier(capacity: 1)
    _ = try verifier.add(key: key)
    let code = try OTPCode("000000")
    let queries = [1, 0].map { BulkVerifier.Query(credential: 0, code: code, window: $0...$0) }
    expect(verifier.firstMatches(of: [queries[0]]), equals: [nil])
    expect(verifier.firstMatches(of: queries), equals: [nil, 0])
  }

  @Test("a code of another format is never found")
  func otherFormat() throws {
    var verifier = BulkVerifier(capacity: 1)
    _ = try verifier.add(key: rfcKey())
    let codes = [try OTPCode("0755224"), try OTPCode("22222"), try OTPCode("755224")]
    let queries = codes.map { BulkVerifier.Query(credential: 0, code: $0, window: 0...0) }
    expect(verifier.firstMatches(of: queries), equals: [nil, nil, 0])
    expect(verifier.firstMatches(of: []), equals: [])
    expect(BulkVerifier(capacity: 0).firstMatches(of: []), equals: [])
  }

  @Test("credentials are of one algorithm and have a key")
  func credentials() throws {
    var verifier = BulkVerifier(capacity: 1)
    #expect(throws: OTPError.emptyKey) { _ = try verifier.add(key: secret("")) }
    #expect(throws: OTPError.unknownAlgorithm) {
      _ = try verifier.add(HOTPGenerator(key: rfcKey(), algorithm: .sha256))
    }
    expect(verifier.count, equals: 0)
    try expect(verifier.add(key: rfcKey()), equals: 0)
    expect(verifier.count, equals: 1)
  }

  @Test("there is room for the stated number of the longest midstates")
  func room() {
    let largest = BulkVerifier(capacity: BulkVerifier.maximumCapacity, algorithm: .sha512)
    expect(largest.capacity, equals: 1 << 17)
  }

  @Test("a credential too many, and one that was not added, stop the process")
  func traps() async {
    await #expect(processExitsWith: .failure) {
      var verifier = BulkVerifier(capacity: 1)
      _ = try verifier.add(key: rfcKey())
      _ = try verifier.add(key: rfcKey())
    }
    await #expect(processExitsWith: .failure) {
      let verifier = BulkVerifier(capacity: 1)
      _ = verifier.firstMatches(of: [.init(credential: 0, code: try OTPCode("755224"), window: 0...0)])
    }
    // Room is not enough: the last question is about a credential that there is room for, after lots that were
    // answered. Verified to fail when any credential that there is room for may be asked about.
    await #expect(processExitsWith: .failure) {
      var verifier = BulkVerifier(capacity: 2)
      _ = try verifier.add(key: rfcKey())
      let code = try OTPCode("755224")
      let queries = (0..<100).map { BulkVerifier.Query(credential: $0 / 99, code: code, window: 0...0) }
      _ = verifier.firstMatches(of: queries)
    }
    await #expect(processExitsWith: .failure) { _ = BulkVerifier(capacity: BulkVerifier.maximumCapacity + 1) }
  }
}

/// A verifier of several keys, and what OpenSSL says about each of its questions.
private struct Bench: ~Copyable {
  var verifier: BulkVerifier
  private let keys: [[UInt8]]
  private let algorithm: OTPAlgorithm
  private var known: [[UInt64: UInt32]]

  init(path: LanePath, keys count: Int) throws {
    var random = SeededGenerator(seed: 512)
    keys = (0..<count).map { _ in (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) } }
    algorithm = path.algorithm
    known = Array(repeating: [:], count: count)
    verifier = BulkVerifier(
      capacity: count, algorithm: path.algorithm, format: .sixDigits, lanes: path.lanes)
    for key in keys { _ = try verifier.add(key: secret(key)) }
  }

  mutating func question(
    credential: Int, _ window: ClosedRange<UInt64>, codeOf counter: UInt64
  ) throws -> BulkVerifier.Query {
    let text = OTPFormat.sixDigits.text(of: value(credential, counter))
    return BulkVerifier.Query(
      credential: credential, code: try OTPCode(text, format: .sixDigits), window: window)
  }

  mutating func answer(_ query: BulkVerifier.Query) -> UInt64? {
    query.window.first { value(query.credential, $0) == query.code.value }
  }

  private mutating func value(_ credential: Int, _ counter: UInt64) -> UInt32 {
    if let value = known[credential][counter] { return value }
    let hmac = KeyedHMAC(key: secret(keys[credential]), algorithm: algorithm.hashAlgorithm)
    let value = OTPLanesTests.truncated(hmac, counter) % 1_000_000
    known[credential][counter] = value
    return value
  }
}
