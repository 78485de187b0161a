import TestSupport

/// The modules that one Swift source file imports.
struct Imports {
  let modules: Set<String>
  let isTestable: Bool

  init(of source: String) {
    var modules: Set<String> = []
    var isTestable = false
    // The search for the word first: the regular expression alone takes half a minute for all files.
    for bytes in source.utf8.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
      let line = Substring(bytes)
      guard line.holds("import"), let match = line.firstMatch(of: Self.declaration) else { continue }
      modules.insert(String(match.module))
      isTestable = isTestable || match.attributes.contains("@testable")
    }
    self.modules = modules
    self.isTestable = isTestable
  }

  /// `@attributes access import kind Module.Member`, one line, perhaps after `;`.
  private static var declaration: Regex<(Substring, attributes: Substring, module: Substring)> {
    /^(?:.*;)?\s*(?<attributes>(?:@\w+(?:\([^)]*\))?\s+)*)(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var|actor)\s+)?(?<module>\w+)/
  }
}
