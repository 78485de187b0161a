import Foundation
import TestSupport
import Testing

/// Verified to fail when `Message` has an interpolation of a `String`.
@Suite("Secrets and the log", .bounded, .requirement("D8"))
struct LoggedSecretTests {
  @Test(
    "a line with a secret, or with a text whose meaning is not said, does not compile",
    arguments: [
      ("secret.byteCount", true), ("name: text", true), ("address: text", true),
      ("secret", false), ("name: secret", false), ("address: secret", false), ("text", false),
      ("SharedSecret(secret)", false), ("[UInt8]()", false), ("text as Any", false),
    ])
  func compiles(value: String, isRight: Bool) throws {
    let run = try compile(value)
    #expect((run.status == 0) == isRight, "\(value): \(run.text)")
    // Not for another reason.
    #expect(
      isRight || run.text.contains("appendInterpolation") || run.text.contains("can be a secret")
        || run.text.contains("convert"))
  }

  /// Checks the types of a program of this package that logs the value.
  private func compile(_ value: String) throws -> Program.Result {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "logging-\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    try """
    import SecretMemory
    import VaultLogging
    func logged(_ secret: consuming SecretBytes, text: String) {
      let line: VaultLog.Message = "the value is \\(\(value))"
      VaultLog.info(.authFlow, line)
    }
    """.write(to: file, atomically: false, encoding: .utf8)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let package = root.lastPathComponent.lowercased().replacing(/[^a-z0-9_]/, with: "_")
    let map = Built.path("CLinux.build") + "/module.modulemap"
    return try Program(
      "swiftc",
      [
        "-typecheck", "-parse-as-library", "-swift-version", "6", "-package-name", package, "-I",
        Built.path("Modules"), "-Xcc", "-fmodule-map-file=\(map)", file.path,
      ]
    ).run()
  }
}
