import Foundation
import TestSupport
import Testing

@Suite("Layers", .bounded)
struct LayeringTests {
  @Test("the manifest lists each room once, after those that it stands on")
  func arrowsPointDown() throws {
    var below: Set<String> = []
    for room in try Layers.read().rooms {
      #expect(room.mayImport.isSubset(of: below), "\(room.name) stands on a later room")
      #expect(below.insert(room.name).inserted, "\(room.name) is listed twice")
    }
    #expect(below.count > 40)
  }

  @Test("each C library is imported by exactly one Swift module")
  func oneUserPerLibrary() throws {
    let rooms = try Layers.read().rooms
    let libraries = rooms.map(\.name)
      .filter { $0.hasPrefix("C") && $0.dropFirst().first?.isUppercase == true && !Layers.ownC.contains($0) }
    #expect(libraries.count >= 3)
    for library in libraries {
      let users = rooms.filter { !Layers.ownC.contains($0.name) && $0.mayImport.contains(library) }
      expect(users.count, equals: 1, "\(library) is imported by \(users.map(\.name))")
    }
  }

  @Test("the package depends on no other package")
  func noPackages() throws {
    try expect(Manifest.read().packageDependencies, equals: 0)
  }

  @Test("every source file imports only what its room may")
  func sources() throws {
    let layers = try Layers.read()
    var count = 0
    for file in try Repository.sources() {
      guard let room = layers.room(ofFile: file) else {
        Issue.record("\(file) lies in no room")
        continue
      }
      expect(layers.violations(ofSource: try Repository.text(file), in: room.name), equals: [], "\(file)")
      count += 1
    }
    #expect(count >= 10)
  }

  // Verified to fail when VaultCore+Rotation calls storeKey of its protector.
  @Test("device keys are stored, deleted and promoted by their one owner alone")
  func deviceKeyOwner() throws {
    let owners = ["Sources/DeviceKeys/DeviceKeys.swift", "Sources/DeviceKeys/PendingDeviceKey.swift"]
    let words = ["Key(", ".setAside("]
    let calls = /\.(storeKey|deleteKey|promoteKey|promoteRestoredKey|setAside)\(/
    var count = 0
    for file in try Repository.sources() where !file.hasPrefix("Sources/DeviceKeys/Protectors/") {
      for line in try Repository.text(file).split(separator: "\n") {
        guard words.contains(where: { line.holds($0) }), !line.holds("func "),
          let call = line.firstMatch(of: calls)
        else { continue }
        count += 1
        #expect(owners.contains(file), "\(file) calls \(call.1) of a protector")
      }
    }
    #expect(count >= 6)
  }

  // Verified to fail when a hint of VaultKit is "name one with --vault".
  @Test("no string below the command line names the tool or one of its options")
  func libraryDoesNotNameTheTool() throws {
    let above = [
      "VaultCommands", "VaultWords", "VaultDoctor", "CommandLineKit", "vaultctl", "HTTPTransport",
      "vault-http", "VaultAgent", "vaultd", "AgentMessages", "KeeperPlacement", "vault-keeper",
    ]
    var count = 0
    for file in try Repository.files(below: "Sources") where file.hasSuffix(".swift") {
      guard !above.contains(String(file.split(separator: "/")[1])) else { continue }
      for (number, line) in try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        count += 1
        for name in ToolNames.found(in: String(line)) {
          Issue.record("\(file):\(number + 1) names \(name) in a string; only a hint does, as \\(tool:)")
        }
      }
    }
    #expect(count > 10_000)
  }

  @Test(
    "a planted name of the tool is found",
    arguments: [
      ("hint: \"run 'vaultctl vault check'\")", ["vaultctl"]),
      ("hint: \"name it with --device-key\")", ["--device-key"]),
      ("\"'--drop-damaged' removes it\"", ["--drop-damaged"]), ("\"\\(path) vaultctl\"", ["vaultctl"]),
      ("\"make one\\(tool: \" with 'vaultctl init'\"), or name it with --vault\"", ["--vault"]),
      ("\"\\(\"purge\", tool: \"run 'vaultctl vault purge'\") again\"", []),
      ("/// \"vaultctl --force\"", []), ("count -= 1 // --vault", []),
      ("\"scripts/install-pam --print\"", []), ("name = \"vaultctl\"", []),
      ("\"of ~/.local/state/vaultctl\"", []), ("\"xdg:schema vaultctl.DeviceKey\"", []),
    ])
  func plantedName(line: String, names: [String]) {
    expect(ToolNames.found(in: line), equals: names)
  }

  @Test("a grant is made by the gate alone, after it verified a person")
  func makerOfGrants() throws {
    var makers: [String] = []
    for file in try Repository.sources() {
      let text = try Repository.text(file)
      if text.holds("Grant("), text.contains(/\bGrant\(/) { makers.append(file) }
    }
    expect(makers, equals: ["Sources/VaultKit/Verification/Gate+Verification.swift"])
  }

  /// Verified to fail when a verb makes one.
  @Test(
    "the right to a component's secrets is made by AuthenticatorKit alone, and by what is never installed"
  )
  func makerOfComponents() throws {
    for file in try Repository.sources() {
      let isMaker = ["Sources/AuthenticatorKit/", "Tests/Tools/vault-torture/", "Benchmarks/"]
        .contains { file.hasPrefix($0) }
      let text = try Repository.text(file)
      guard !isMaker, text.holds("Component") || text.holds("by: .init("),
        text.contains(/\bComponent(\.init)?\(|\bby: \.init\(/)
      else { continue }
      Issue.record("\(file) makes a Component")
    }
  }

  @Test("tests see what users and our own package see: no @testable, no XCTest")
  func testImports() throws {
    for file in try Repository.files(below: "Tests") where file.hasSuffix(".swift") {
      let imports = Imports(of: try Repository.text(file))
      #expect(!imports.isTestable, "\(file)")
      #expect(!imports.modules.contains("XCTest"), "\(file)")
    }
  }

  @Test(
    "a planted import is found, however it is written",
    arguments: [
      "import COpenSSL", "  import Foundation", "@preconcurrency import Foundation",
      "@_spi(Benchmarks) public import VaultCrypto", "import struct Foundation.Data",
      "private import CArgon2  // no", "import Glibc; import CSQLite", "\timport FoundationEssentials",
    ])
  func plantedImport(line: String) throws {
    let layers = try Layers.read()
    let source = "import SecretMemory\n\(line)\n\nstruct Example {}\n"
    let isAllowedInVaultKit = line.contains("VaultCrypto")
    expect(layers.violations(ofSource: source, in: "VaultKit").isEmpty, equals: isAllowedInVaultKit)
    expect(layers.violations(ofSource: source, in: "VaultPrompts").count, equals: 1)
  }

  @Test("words that only look like imports do not count")
  func noFalseAlarm() {
    let source = "// import Foundation\n/// see `import COpenSSL`\nlet imports = 1\nfunc `import`() {}\n"
    #expect(Imports(of: source).modules.isEmpty)
  }
}
