import Foundation
import SecretMemory
import TestSupport
import Testing
import CommandLineKit

/// Verified to fail when bytes beyond the largest multiple of the alphabet are kept (8 characters come five times where
/// others come four times), and when the number of a word is taken from its low byte alone.
@Suite("Generated secrets", .bounded)
struct GeneratorTests {
  private func text(_ shape: String) throws -> String {
    let secret = try #require(Generator(shape)).secret(from: .kernel)
    return secret.expose { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  /// The sum of squared differences from an even distribution, as a normal number of standard deviations
  /// (Wilson and Hilferty 1931); beyond 6 an even distribution comes once in a billion runs.
  private func deviation(_ counts: [Int], of kinds: Int) -> Double {
    let expected = Double(counts.reduce(0, +)) / Double(kinds)
    let filled = counts + Array(repeating: 0, count: kinds - counts.count)
    let chi = filled.reduce(0.0) { $0 + pow(Double($1) - expected, 2) / expected }
    let freedom = Double(kinds - 1)
    return (cbrt(chi / freedom) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom))
  }

  @Test(
    "every character is equally likely (chi-square)", arguments: [("alnum", 62), ("all", 94), ("hex", 16)])
  func characters(alphabet: String, kinds: Int) throws {
    var counts: [UInt8: Int] = [:]
    for _ in 0..<200 { for byte in try text("1024:\(alphabet)").utf8 { counts[byte, default: 0] += 1 } }
    expect(counts.count, equals: kinds)
    let sigmas = deviation(Array(counts.values), of: kinds)
    #expect(abs(sigmas) < 6, "\(sigmas) standard deviations from even")
  }

  @Test("every word is equally likely, and the list has 2,048 that differ in their first four letters")
  func words() throws {
    var counts: [Substring: Int] = [:]
    for _ in 0..<100 {
      for word in try text("1024:words").split(separator: "-") { counts[word, default: 0] += 1 }
    }
    expect(counts.count, equals: 2048)
    expect(Set(counts.keys.map { $0.prefix(4) }).count, equals: 2048)
    #expect(
      counts.keys.allSatisfy { (3...8).contains($0.count) && $0.allSatisfy { ("a"..."z").contains($0) } })
    #expect(
      counts.keys.contains("abandon") && counts.keys.contains("zoo") && counts.keys.contains("abstract"))
    let sigmas = deviation(Array(counts.values), of: 2048)
    #expect(abs(sigmas) < 6, "\(sigmas) standard deviations from even")
  }

  @Test("the test of evenness sees a bias of one part in four")
  func biasIsSeen() {
    // Differences as large as chance makes them: up to 100 both ways, 57 in their mean square.
    #expect(abs(deviation((0..<62).map { 3200 + $0 * 200 / 61 }, of: 62)) < 1)
    #expect(deviation((0..<62).map { $0 < 8 ? 4125 : 3300 }, of: 62) > 6)
  }

  @Test(
    "the bits are the logarithm of how many there are, rounded down",
    arguments: [("24", 142), ("24:all", 157), ("64:hex", 256), ("6:words", 66), ("1", 5), ("1:words", 11)])
  func bits(shape: String, bits: Int) throws {
    try expect(#require(Generator(shape)).bitCount, equals: bits)
  }
}
