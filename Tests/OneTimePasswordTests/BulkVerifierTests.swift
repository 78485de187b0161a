import OneTimePassword
import SecretMemory
import Testing

@Suite("Codes of many credentials at once")
struct BulkVerifierTests {
  @Test("each question gets what its own generator answers", arguments: LanePath.here)
  func questions(_ path: LanePath) throws {
    var random = SeededGenerator(seed: 6238)
    let keys = (0..<50).map { _ in
      (0..<Int.random(in: 1...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var verifier = BulkVerifier(
      capacity: 50, algorithm: path.algorithm, format: .sixDigits, lanes: path.lanes)
    for (index, key) in keys.enumerated() { #expect(try verifier.add(key: secret(key)) == index) }
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
    #expect(verifier.firstMatches(of: queries) == expected)
    #expect(expected.contains(nil))
    #expect(expected.contains { $0 != nil })
  }

  @Test("a window wider than a batch is searched whole, and the first match wins")
  func wideWindow() throws {
    var verifier = BulkVerifier(capacity: 1)
    _ = try verifier.add(key: rfcKey())
    let generator = try HOTPGenerator(key: rfcKey())
    for counter in [0, 1023, 1024, 4999] as [UInt64] {
      let code = try OTPCode(generator.code(at: counter))
      let first = generator.firstMatch(of: code, in: 0...4999)
      let query = BulkVerifier.Query(credential: 0, code: code, window: 0...4999)
      #expect(verifier.firstMatches(of: [query, query]) == [first, first])
    }
  }

  @Test("of two counters with one code the smaller one is found, within a batch and across", arguments: twins)
  func smallestMatch(_ pair: ClosedRange<UInt64>) throws {
    let generator = try HOTPGenerator(key: rfcKey())
    var verifier = BulkVerifier(capacity: 1)
    _ = try verifier.add(generator)
    let code = try OTPCode(generator.code(at: pair.lowerBound))
    let windows = [pair, pair.lowerBound + 1...pair.upperBound, pair]
    let queries = windows.map { BulkVerifier.Query(credential: 0, code: code, window: $0) }
    #expect(
      verifier.firstMatches(of: queries) == [pair.lowerBound, pair.upperBound, pair.lowerBound])
  }

  @Test("a code of another format is never found")
  func otherFormat() throws {
    var verifier = BulkVerifier(capacity: 1)
    _ = try verifier.add(key: rfcKey())
    let codes = [try OTPCode("0755224"), try OTPCode("22222"), try OTPCode("755224")]
    let queries = codes.map { BulkVerifier.Query(credential: 0, code: $0, window: 0...0) }
    #expect(verifier.firstMatches(of: queries) == [nil, nil, 0])
    #expect(verifier.firstMatches(of: []) == [])
  }

  @Test("credentials are of one algorithm and have a key")
  func credentials() throws {
    var verifier = BulkVerifier(capacity: 1)
    #expect(throws: OTPError.emptyKey) { _ = try verifier.add(key: secret("")) }
    #expect(throws: OTPError.unknownAlgorithm) {
      _ = try verifier.add(HOTPGenerator(key: rfcKey(), algorithm: .sha256))
    }
    #expect(verifier.count == 0)
    #expect(try verifier.add(key: rfcKey()) == 0)
    #expect(verifier.count == 1)
  }

  @Test("there is room for the stated number of the longest midstates")
  func room() {
    let largest = BulkVerifier(capacity: BulkVerifier.maximumCapacity, algorithm: .sha512)
    #expect(largest.capacity == 1 << 17)
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
    await #expect(processExitsWith: .failure) { _ = BulkVerifier(capacity: BulkVerifier.maximumCapacity + 1) }
  }
}
