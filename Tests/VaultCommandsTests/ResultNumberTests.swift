import AuthenticatorKit
import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultKit
import VaultWords

/// Verified to fail when a word of the library leads to another code, and when an exit in one of the two guides is another.
@Suite("Result numbers of other systems", .bounded)
struct ResultNumberTests {
  /// What the guide for systems says of a result, by its name: number, code, exit.
  private static let results = rows(of: "systems.md", below: "## Result numbers", cells: 5)
  /// What the guide of transports says of an error, by its word: meaning, exit, number.
  private static let errors = rows(of: "transport.md", below: "## Errors", cells: 4)

  @Test("each error of a peer has the code and the exit that both guides name")
  func errors() throws {
    expect(Self.errors.count, equals: 16)
    for (word, cells) in Self.errors {
      let error = VaultError(peer: word, "a message")
      expect("\(CommandError(error).exit.rawValue)", equals: cells[1], "\(word)")
      let result = try #require(Self.results[word], "systems.md lacks \(word)")
      #expect(result[0] == cells[2] && result[2] == cells[1], "\(word)")
      expect(result[1], equals: error.code.rawValue, "\(word)")
    }
  }

  @Test("each result that is no word of a peer is one that the guide explains")
  func results() {
    expect(Set(Self.results.keys).subtracting(Self.errors.keys), equals: ["OK", "NOCA", "NOSRV"])
    expect(Self.results["NOCA"]?.dropLast(), equals: ["10", "network", "16"])
    expect(Self.results["NOSRV"]?.dropLast(), equals: ["11", "network", "16"])
  }

  /// The rows of the first table below a heading, by their first cell, without the header.
  private static func rows(of guide: String, below heading: String, cells: Int) -> [String: [String]] {
    let page = Tool.repository.appending(path: "docs/guides/\(guide)")
    let lines = (try? String(contentsOf: page, encoding: .utf8))?.components(separatedBy: "\n") ?? []
    let table = lines.drop { $0 != heading }.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
    let rows = table.dropFirst(2).map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
    }
    #expect(rows.allSatisfy { $0.count == cells })
    return Dictionary(rows.map { ($0[0], Array($0.dropFirst())) }) { first, _ in first }
  }
}
