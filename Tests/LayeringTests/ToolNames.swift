import TestSupport

/// The names of the tool and of options in the string literals of one line of Swift.
///
/// What only the tool shows of a hint is its own: `\(tool: "…")`, also with the words of the library before it.
/// A script of this repository is no part of the tool: its options may be named after it. Neither is a name in the system
/// (docs/decisions/0077): a directory, a schema, and a literal that is this name alone.
enum ToolNames {
  static func found(in line: String) -> [String] {
    guard line.holds("vaultctl") || line.holds("--"), !line.drop(while: { $0 == " " }).hasPrefix("//")
    else {
      return []
    }
    let shared = line.replacing(/\btool: "(?:[^"\\]|\\.)*"\)/, with: "tool)")
    return shared.matches(of: /"(?:[^"\\]|\\.)*"/).flatMap { literal in
      literal.0.replacing(/scripts\/[a-z-]+ --[a-z-]+/, with: "")
        .replacing(/^"vaultctl"$|\/vaultctl\b|vaultctl\.DeviceKey|vaultctl:/, with: "")
        .matches(of: /vaultctl|[^\w-](--[a-z][a-z-]*)/).map { String($0.1 ?? $0.0) }
    }
  }
}
