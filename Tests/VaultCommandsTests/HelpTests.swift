import CommandLineKit
import Foundation
import TestSupport
import Testing
import CommandLineKit
import VaultCommands

@Suite("Help and manual pages")
struct HelpTests {
  @Test("the help of every verb ends in its runnable example and names every option and exit code")
  func everyVerb() throws {
    let tool = try Tool()
    for verb in VerbTable.all {
      let text = Help(VerbTable.program).verb(verb)
      #expect(text.hasSuffix("Example:\n  \(verb.example)\n"), "\(verb.name)")
      for option in verb.options + VerbTable.program.commonOptions {
        #expect(text.contains("--\(option.name)"), "\(verb.name) \(option.name)")
      }
      for code in verb.exitCodes { #expect(text.contains("  \(code.rawValue)  "), "\(verb.name) \(code)") }
      #expect(
        text.split(separator: "\n").allSatisfy { $0.count <= 100 || $0.hasPrefix("  ") }, "\(verb.name)")
    }
    for words in [["--help"], ["item", "--help"], ["item", "add", "--help"], ["exec", "-h"]] {
      let run = try tool.run(words)
      #expect(run.exit == 0 && run.errors.isEmpty && run.text.contains("Example:\n  "), "\(words)")
    }
  }

  @Test("the committed manual pages are those that the table makes; else run scripts/generate-man")
  func committedPages() throws {
    let folder = Tool.repository.appendingPathComponent("docs/man")
    let committed = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      $0.hasPrefix("vaultctl") && $0.hasSuffix(".1")
    }
    expect(Set(committed), equals: Set(ManPages(of: VerbTable.program).all.map(\.name)))
    for page in ManPages(of: VerbTable.program).all {
      let text = try String(contentsOf: folder.appendingPathComponent(page.name), encoding: .utf8)
      let isSame = text == page.text
      #expect(isSame, "\(page.name) differs: run scripts/generate-man")
    }
  }

  @Test("mandoc finds nothing to say about the manual pages")
  func mandoc() throws {
    guard let mandoc = Shell.find("mandoc") else {
      print("skipped: mandoc is not installed")
      return
    }
    let folder = Tool.repository.appendingPathComponent("docs/man").path
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(pages.count > 30)
    for page in pages {
      let run = try Tool().run(["-T", "lint", "-W", "warning", "\(folder)/\(page)"], program: mandoc)
      expect(run.exit, equals: 0, "\(page): \(run.text)\(run.errors)")
    }
  }
}
