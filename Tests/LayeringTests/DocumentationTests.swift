import Foundation
import TestSupport
import Testing

@Suite("Documentation names what exists", .bounded)
struct DocumentationTests {
  /// Verified to fail when a room is missing, and when a line of the drawing is moved.
  @Test("the map draws every room, and each uses only rooms to its right and below")
  func drawing() throws {
    let drawing = try #require(Repository.text("docs/map.md").firstMatch(of: /```text\n((?s).*?)```/)).1
    let parts = drawing.split(separator: "\n\n")
    expect(parts.count, equals: 2)
    let layers = try Layers.read()
    let names = Set(layers.rooms.map(\.name))
    let drawn = parts[0].split { $0.isWhitespace }.map(String.init).filter(names.contains)
    let neverInstalled = parts[1].split { $0.isWhitespace }.map(String.init).filter(names.contains)
    expect((drawn + neverInstalled).sorted(), equals: names.sorted())
    for (place, name) in drawn.enumerated() {
      let wrong = layers.room(name)!.mayImport.subtracting(drawn[(place + 1)...])
      #expect(wrong.isEmpty, "\(name) uses \(wrong), which the drawing does not have below it")
    }
  }

  @Test("every place that the map names exists")
  func everyPlaceExists() throws {
    let places = try Repository.text("docs/map.md").matches(
      of: /`((?:Sources|Tests|Benchmarks|docs|scripts)\/[^`]*)`/)
    #expect(places.count > 20)
    for place in places {
      #expect(Repository.exists(String(place.1)), "docs/map.md names \(place.1), which does not exist")
    }
  }

  /// Verified to fail when a file of a walk is moved, and when a function of one is renamed.
  @Test("each walk on the map goes down only, passes no file twice, and names a function of each file")
  func walksGoDown() throws {
    let layers = try Layers.read()
    let map = try Repository.text("docs/map.md")
    #expect(map.split { $0.isWhitespace }.count <= 600)
    let walks = try #require(map.split(separator: "## Walks").last).split(separator: "\n\n1. ").dropFirst()
    expect(walks.count, equals: 6)
    for walk in walks {
      let steps = ("1. " + walk).matches(of: /(?m)^\d+\. `(Sources\/[^`]*)` `(\w+)`/)
      let files = steps.map { String($0.1) }
      #expect(files.count > 2 && Set(files).count == files.count)
      expect(files.count, equals: walk.matches(of: /`Sources\//).count)
      let rooms = files.compactMap { layers.room(ofFile: $0)?.name }
      expect(rooms.count, equals: files.count)
      for (index, room) in rooms.enumerated() {
        let above = Set(rooms[..<index]).subtracting([room])
        #expect(layers.below(room).isDisjoint(with: above), "\(files[index]) is above a file before it")
      }
      for step in steps {
        let text = try Repository.text(String(step.1))
        let word = step.2 == "init" ? "init" : "func \(step.2)"
        let isThere = text.contains("\(word)(") || text.contains("\(word)<")
        #expect(isThere, "\(step.1) has no function \(step.2)")
      }
    }
  }

  @Test("every script that a page names exists and can be run", arguments: try Pages.all())
  func scripts(page: String) throws {
    for match in try Repository.text(page).matches(of: /\b(scripts\/[a-z][a-z-]*)\b/) {
      let path = Repository.root.appendingPathComponent(String(match.1)).path
      #expect(FileManager.default.isExecutableFile(atPath: path), "\(page) names \(match.1)")
    }
  }

  @Test("every link inside the repository leads somewhere", arguments: try Pages.all())
  func links(page: String) throws {
    let folder = (page as NSString).deletingLastPathComponent
    for match in try Repository.text(page).matches(of: /\]\(([^)#:\s]+)(?:#[^)]*)?\)/) {
      let target = (folder as NSString).appendingPathComponent(String(match.1))
      #expect(Repository.exists(target), "\(page) links to \(match.1)")
    }
  }

  @Test("every test that a page quotes as its witness exists under that name")
  func witnesses() throws {
    let tests = try Repository.files(below: "Tests").filter { $0.hasSuffix(".swift") }
      .map { try Repository.text($0) }.joined()
    var count = 0
    for line in try Repository.text("docs/security/past-mistakes.md").split(separator: "\n") {
      guard let start = line.range(of: "*Shown by:*") else { continue }
      for quote in line[start.upperBound...].matches(of: /"([^"]+)"/) {
        #expect(tests.holds("\"\(quote.1)\""), "no test is called \(quote.0)")
        count += 1
      }
    }
    #expect(count > 30)
  }

  @Test("no committed file names a machine, directory or host of its authors")
  func noMachineNames() throws {
    let words = MachineNames.words
    for file in try Repository.committedFiles() {
      guard let text = try? Repository.text(file) else { continue }
      for word in words {
        #expect(!text.holds(word), "\(file) contains \(word)")
      }
    }
  }

  @Test("the list of machine names finds what it lists")
  func machineNamesAreFound() {
    #expect(MachineNames.words.count >= 8)
    #expect(MachineNames.words.allSatisfy { $0.count >= 5 })
  }
}

enum Pages {
  /// Every Markdown page.
  static func all() throws -> [String] {
    try Repository.committedFiles().filter { $0.hasSuffix(".md") && Repository.exists($0) }
  }
}

/// Words of workplaces and registries, which mean nothing to a stranger.
enum MachineNames {
  /// Each is put together here, so that this file passes its own test.
  static let words = [
    ["/wor", "k/"], ["/far", "m/"], ["bash_", "jobs"], ["far", "m-bench"], ["far", "m-studio"],
    ["before-", "stop"], ["deb.deb", "ian.org"], ["pyp", "i.org"], ["pythonho", "sted"], ["/ho", "me/u/"],
    ["/roo", "t/"],
  ].map { $0.joined() }
}
