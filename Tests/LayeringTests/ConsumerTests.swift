import TestSupport
import Testing

@Suite("What another package takes from ours", .bounded)
struct ConsumerTests {
  /// Verified to fail when `strict` of Package.swift makes warnings errors whatever the environment says.
  @Test("no target has a setting that is for our own builds only", .requirement("L3"))
  func settings() throws {
    for target in try Manifest.read().targets where target.type != "test" {
      #expect(target.settings.isDisjoint(with: Self.own), "\(target.name) has \(target.settings)")
    }
  }

  private static let own: Set = ["treatAllWarnings", "treatWarning", "unsafeFlags", "disableWarning"]

  /// Verified to fail when a room does not have the settings `strict`, and when a script does not export the variable.
  @Test("warnings are errors where our scripts build")
  func warnings() throws {
    let targets = try Manifest.read(warnings: "errors").targets
    for target in targets where target.settings.contains("swiftLanguageMode") {
      #expect(target.settings.contains("treatAllWarnings"), "\(target.name)")
    }
    #expect(targets.count { $0.settings.contains("treatAllWarnings") } > 40)
    for script in try Repository.files(below: "scripts") + ["Tests/Sanitizers/run"] {
      let text = try Repository.text(script)
      // Those in Python build nothing for tests: they name the command in a hint.
      guard text.contains("--build-tests"), text.hasPrefix("#!/usr/bin/env bash") else { continue }
      #expect(text.contains("export VAULT_WARNINGS=errors"), "\(script)")
    }
  }

  /// Verified to fail when OneTimePassword may import VaultKeys.
  @Test("one-time passwords need neither Argon2 nor SQLite", .requirement("L13"))
  func oneTimePasswords() throws {
    let below = try Layers.read().below("OneTimePassword")
    #expect(below.contains("COpenSSL"))
    #expect(below.isDisjoint(with: ["CArgon2", "PasswordDerivation", "CSQLite", "VaultStorage"]))
  }

  /// Verified to fail when SecretMemory is in no product, and when VaultCommands is in one.
  @Test("each module that a program imports is in a product and has documentation", .requirement("L13"))
  func products() throws {
    let modules = [
      "SecretMemory", "OneTimePassword", "VaultKit", "AuthenticatorKit", "VaultPrompts",
      "TransportPrograms", "VaultTestKit",
    ]
    let manifest = try Manifest.read()
    let programs = Set(manifest.targets.filter { $0.type == "executable" }.map(\.name))
    let libraries = manifest.products.filter { $0.value.isDisjoint(with: programs) }
    expect(libraries.values.reduce([]) { $0.union($1) }, equals: Set(modules + ["CLaneThreads"]))
    for module in modules {
      #expect(Repository.exists("Sources/\(module)/\(module).docc/\(module).md"))
    }
    let consumer = try Repository.text("Tests/Consumers/Package.swift")
    for product in libraries.keys {
      #expect(consumer.contains("\"\(product)\""), "Tests/Consumers does not use \(product)")
    }
  }

  /// Whose cases are complete (docs/decisions/0020).
  private static let closed: Set = ["OTPVerdict", "RecoveryChoice"]

  /// Verified to fail when an enum loses its `@nonexhaustive`.
  @Test("every public enum can get a case without breaking a program", .requirement("L14"))
  func enums() throws {
    var open = 0
    for path in try Repository.files(below: "Sources") where path.hasSuffix(".swift") {
      let lines = try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() where line.holds("public enum ") {
        let indent = line.prefix { $0 == " " }
        guard let name = line.dropFirst(indent.count).wholeMatch(of: /public enum (\w+).*/)?.1,
          lines[number...].prefix(while: { $0 != indent + "}" }).contains(where: {
            $0.hasPrefix(indent + "  case ")
          })
        else { continue }
        let isOpen = lines[number - 1] == indent + "@nonexhaustive"
        #expect(isOpen != Self.closed.contains(String(name)), "\(path): \(name)")
        open += isOpen ? 1 : 0
      }
    }
    #expect(open > 15)
  }

  /// Verified to fail when Package.swift lets the programs use `package` declarations.
  @Test("the programs of the guide see only what is public", .requirement("L13"))
  func access() throws {
    let programs = try #require(try Manifest.read().targets.first { $0.name == "GuidePrograms" })
    #expect(!programs.hasPackageAccess)
  }
}
