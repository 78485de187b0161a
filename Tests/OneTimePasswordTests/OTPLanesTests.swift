import Foundation
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultCrypto

/// One algorithm, one way to compute it.
struct LanePath: Sendable, CustomTestStringConvertible {
  let algorithm: OTPAlgorithm
  let lanes: OTPLanes

  var testDescription: String { "\(algorithm.rawValue) \(lanes.rawValue)" }

  /// The ways that there are; the SHA extensions know no SHA-512. `VAULT_OTP_LANES` leaves one of them.
  static let all: [LanePath] = {
    let wanted = ProcessInfo.processInfo.environment["VAULT_OTP_LANES"].map { name in
      OTPLanes(rawValue: name) ?? { preconditionFailure("VAULT_OTP_LANES is no lane: \(name)") }()
    }
    return OTPAlgorithm.allCases.flatMap { algorithm in
      OTPLanes.allCases
        .filter { !($0 == .shani && algorithm == .sha512) && (wanted == nil || wanted == $0) }
        .map { LanePath(algorithm: algorithm, lanes: $0) }
    }
  }()

  /// Skips the test where this processor does not have the instructions.
  func need(at location: SourceLocation = #_sourceLocation) throws {
    if !lanes.isSupported(for: algorithm) { try skip(.processor, testDescription, at: location) }
  }

  func generator(_ key: [UInt8], format: OTPFormat = .sixDigits) throws -> HOTPGenerator {
    try HOTPGenerator(key: secret(key), algorithm: algorithm, format: format, lanes: lanes)
  }
}

@Suite("Codes side by side in lanes", .bounded)
struct OTPLanesTests {
  @Test("some way is there for each algorithm, and the best one is possible")
  func ways() {
    for algorithm in OTPAlgorithm.allCases {
      #expect(OTPLanes.best(for: algorithm).isSupported(for: algorithm))
      #expect(OTPLanes.portable.isSupported(for: algorithm))
      print("lanes: \(algorithm.rawValue): \(OTPLanes.best(for: algorithm).rawValue) is used here")
    }
  }

  @Test("keys of 1 to 200 bytes give the values that OpenSSL gives, at any counter", arguments: LanePath.all)
  func againstOpenSSL(_ path: LanePath) throws {
    try path.need()
    var random = SeededGenerator(seed: 4226)
    for keyLength in 1...200 {
      let key = (0..<keyLength).map { _ in UInt8.random(in: 0...255, using: &random) }
      let generator = try path.generator(key)
      let hmac = KeyedHMAC(key: secret(key), algorithm: path.algorithm.hashAlgorithm)
      let starts: [UInt64] = [0, .max - 3, 0xffff_fffd, 1 << 63, random.next()]
      let first = starts.randomElement(using: &random)!
      let values = generator.truncatedValues(from: first, count: Int.random(in: 1...37, using: &random))
      for (index, value) in values.enumerated() {
        let counter = first &+ UInt64(index)
        let expected = Self.truncated(hmac, counter)
        expect(value, equals: expected, "key of \(keyLength) bytes, counter \(counter)")
        expect(generator.truncatedValue(at: counter), equals: expected)
      }
    }
  }

  /// Whole groups, one less and one more, for groups of 4, 8 and 16 lanes, lots of 32 and batches of 512.
  static let edges = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 511, 512, 513, 528, 529, 1025,
  ]

  @Test("any number of counters, across 2^32 and across 2^64", arguments: LanePath.all)
  func counts(_ path: LanePath) throws {
    try path.need()
    let key = Array("12345678901234567890".utf8)
    let generator = try path.generator(key)
    let hmac = KeyedHMAC(key: secret(key), algorithm: path.algorithm.hashAlgorithm)
    for middle in [1 << 32, 0] as [UInt64] {
      let expected = (0..<1026).map { Self.truncated(hmac, middle &- 513 &+ $0) }
      for count in Self.edges {
        let start = 513 - count / 2
        let values = generator.truncatedValues(from: middle &- UInt64(count / 2), count: count)
        expect(values, equals: Array(expected[start..<start + count]), "\(count) counters around \(middle)")
      }
    }
  }

  @Test("every offset of the truncation occurs and is right", arguments: LanePath.all)
  func offsets(_ path: LanePath) throws {
    try path.need()
    let key = Array("12345678901234567890".utf8)
    let hmac = KeyedHMAC(key: secret(key), algorithm: path.algorithm.hashAlgorithm)
    var seen: Set<UInt8> = []
    let values = try path.generator(key).truncatedValues(from: 0, count: 300)
    for (counter, value) in values.enumerated() {
      let code = hmac.code(for: Self.message(UInt64(counter)))
      seen.insert(code.last! & 15)
      expect(value, equals: Self.truncated(hmac, UInt64(counter)))
    }
    expect(seen.count, equals: 16)
  }

  @Test("windows of every width find their first, their last, and nothing else", arguments: LanePath.all)
  func windows(_ path: LanePath) throws {
    try path.need()
    let generator = try path.generator([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], format: .decimal(8))
    for width in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 1023, 1024, 1025, 2049] as [UInt64] {
      let window = UInt64(500)...(499 + width)
      // The second row is where one batch of 512 ends, and where a code and its successor are in two.
      let counters: [UInt64] = [500, 500 + width / 2, 499 + width] + (width > 512 ? [1010, 1011, 1012] : [])
      for counter in counters {
        let code = try OTPCode(generator.code(at: counter))
        expect(generator.firstMatch(of: code, in: window), equals: counter)
        let next = try OTPCode(generator.code(at: counter + 1))
        expect(generator.firstMatch(of: code, then: next, in: window), equals: counter)
        #expect(generator.firstMatch(of: next, then: code, in: window) == nil)
      }
      for counter in [499, 500 + width] {
        #expect(generator.firstMatch(of: try OTPCode(generator.code(at: counter)), in: window) == nil)
      }
    }
  }

  @Test(
    "the remainder by multiplication is the one by division, for every modulus",
    arguments: LanePath.all.prefix(1))
  func remainders(_ path: LanePath) throws {
    try path.need()
    let weak = try [4, 5].map { try OTPFormat.decimal($0, allowingWeak: true) }
    for format in try weak + [.sixDigits, .steam, .decimal(7), .decimal(8)] {
      let generator = try path.generator(Array("12345678901234567890".utf8), format: format)
      let values = generator.truncatedValues(from: 0, count: 3000)
      for (counter, value) in values.enumerated() {
        let code = try OTPCode(format.text(of: value), format: format)
        expect(code.value, equals: value % format.modulus)
        expect(generator.firstMatch(of: code, in: UInt64(counter)...UInt64(counter)), equals: UInt64(counter))
      }
    }
  }

  static func truncated(_ hmac: borrowing KeyedHMAC, _ counter: UInt64) -> UInt32 {
    let code = hmac.code(for: message(counter))
    let offset = Int(code.last! & 15)
    return code[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
  }

  private static func message(_ counter: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) }
  }
}

extension OTPAlgorithm {
  var hashAlgorithm: HashAlgorithm {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    case .sha512: .sha512
    }
  }
}
