import TestSupport
import Testing

/// A held transaction that nobody commits is rolled back, and its caller does not notice.
@Suite("Held transactions end", .bounded, .requirement("L7"))
struct HeldTransactionRuleTests {
  /// Verified to fail when the commit of `VaultCore.delete(_:)` is taken out.
  @Test("a transaction that may write is committed, handed on or given up in the scope that began it")
  func commits() throws {
    var count = 0
    for file in try Repository.files(below: "Sources") where file.hasSuffix(".swift") {
      let (begun, found) = Self.uncommitted(in: try Repository.text(file))
      count += begun
      for line in found { Issue.record("\(file):\(line): nothing commits this transaction") }
    }
    #expect(count > 60)
  }

  @Test(
    "what nothing commits is found, at whatever depth it begins",
    arguments: [
      "func a() {\n  var t = try beginWriting()\n  try t.delete(id)\n}\n",
      "func a() {\n  do {\n    var t = try core.beginWriting()\n  }\n  try t.commit()\n}\n",
      "func a() {\n  var other = try beginWriting()\n  try t.commit()\n}\n",
      "func a() {\n  _ = try beginWriting(repairing: true)\n}\n",
      "func a() {\n  var t = try beginWriting()\n  try b(id, in: &t)\n}\n",
      "func a() {\n  t = try beginWriting()\n}\nfunc b() {\n  try t.commit()\n}\n",
    ])
  func found(text: String) { expect(Self.uncommitted(in: text).lines.count, equals: 1, "\(text)") }

  @Test(
    "what is committed, rehearsed, or handed on is not",
    arguments: [
      "func a() {\n  var t = try core.beginWriting()\n  if b {\n    try t.commit()\n  }\n}\n",
      "func a() {\n  try? beginWriting().commit()\n}\n",
      "func a() {\n  var t = try beginWriting()\n  try t.rehearse()\n}\n",
      "func a() {\n  var t = try beginWriting()\n  return t\n}\n",
      "func a() {\n  let t = try beginWriting()\n  try b(id, in: t)\n}\n",
      "func a() {\n  var t: T\n  do { t = try beginWriting() } catch { throw }\n  try t.commit()\n}\n",
    ])
  func notFound(text: String) { expect(Self.uncommitted(in: text).lines, equals: []) }

  /// How many transactions a file begins, and the lines of those that nothing ends in their scope: the lines that follow, up to the
  /// first that is indented less.
  private static func uncommitted(in text: String) -> (begun: Int, lines: [Int]) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var (begun, found) = (0, [Int]())
    for (index, line) in lines.enumerated() {
      let code = line.drop { $0 == " " }
      guard code.contains("beginWriting("), !code.hasPrefix("//"), !code.contains("func beginWriting(") else {
        continue
      }
      begun += 1
      if code.contains("beginWriting().commit()") || code.contains("beginWriting(repairing: true).commit()") {
        continue
      }
      let depth = line.count - code.count
      let scope = lines[(index + 1)...].prefix { $0.isEmpty || $0.prefix { $0 == " " }.count >= depth }
      let name = code.split(separator: "=")[0].split { !$0.isLetter }.last ?? ""
      let ends = [".commit()", ".rehearse()"].map { name + $0 } + ["return \(name)", ": \(name))"]
      let isEnded = scope.contains { line in ends.contains { line.contains($0) } }
      if name.isEmpty || !isEnded { found.append(index + 1) }
    }
    return (begun, found)
  }
}
