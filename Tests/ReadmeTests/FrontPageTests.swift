import Foundation
import TestSupport
import Testing

@Suite("The README", .bounded)
struct FrontPageTests {
  @Test("is read in thirty seconds: at most 500 words, one picture, and three doors that exist")
  func short() throws {
    let text = try Readme.text()
    #expect(text.split { $0.isWhitespace }.count <= 500)
    expect(text.matches(of: /!\[[^\]]+\]\(docs\/images\/terminal\.svg\)/).count, equals: 1)
    expect(text.matches(of: /!\[/).count, equals: 1)
    let doors = text.matches(of: /(?m)^- \*\*I [a-zA-Z ]+\*\*: \[[^\]]+\]\(([^)]+)\)/).map { String($0.1) }
    expect(doors.count, equals: 3)
  }

  @Test("its links, and those of the guides, lead to files of the tree")
  func links() throws {
    for page in ["README.md"] + GuideTests.guides.map({ "docs/guides/\($0)" }) {
      let folder = Readme.root.appendingPathComponent(page).deletingLastPathComponent()
      for link in try Readme.text(of: page).matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/)
      where !link.1.hasPrefix("http") {
        let place = folder.appendingPathComponent(String(link.1)).path
        #expect(FileManager.default.fileExists(atPath: place), "\(page): \(link.1)")
      }
    }
  }

  @Test("its figures are those of the results, and stand beside their like")
  func figures() throws {
    let python = try Shell.need("python3")
    let script = Readme.root.path + "/Benchmarks/report/readme.py"
    let result = try Program(python, ["-B", script, "--check"]).run()
    expect(result.status, equals: 0, "\(result.text)")
    // Every other number with a unit of time would be one that nobody checks.
    let outside = try Readme.text().replacing(/(?s)<!-- figures: begin -->.*<!-- figures: end -->/, with: "")
    #expect(!outside.contains(/\d (ns|µs|ms)\b/))
  }

  @Test("its picture shows what the commands print")
  func picture() throws {
    let result = try Program(
      Shell.need("python3"), [Readme.root.path + "/scripts/picture", "--check", Built.directory.path]
    ).run()
    expect(result.status, equals: 0, "\(result.text)")
  }

  @Test("no page but the one for services shows a vault without a passcode")
  func safeSetup() throws {
    for page in ["README.md"] + GuideTests.guides.map({ "docs/guides/\($0)" })
    where page != "docs/guides/scripts-and-services.md" {
      #expect(try !Readme.text(of: page).contains("--no-passcode"), "\(page)")
    }
  }
}
