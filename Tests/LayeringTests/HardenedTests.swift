import Foundation
import TestSupport
import Testing

/// How what people run is linked, and its C compiled. `scripts/build-release` checks each program with the same script.
@Suite("Programs that are hardened", .bounded)
struct HardenedTests {
  private static let script = Repository.root.appendingPathComponent("scripts/hardened").path

  /// Verified to fail when one of the four is not looked at.
  @Test("the check finds each flaw of a program, and no flaw of one without")
  func check() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appendingPathComponent("main.c").path
    try Data("#include <stdio.h>\nint main(void) { return puts(\"x\") < 0; }\n".utf8)
      .write(to: URL(fileURLWithPath: source))
    let good = ["-pie", "-fPIE", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]
    for (options, flaw) in [
      (good, nil), (good + ["-Wl,-z,lazy"], "-z now"), (good + ["-Wl,-z,norelro"], "-z relro"),
      (good + ["-no-pie"], "fixed address"), (good + ["-Wl,-z,execstack"], "stack"),
    ] as [([String], String?)] {
      let program = folder.appendingPathComponent("program").path
      let built = try Program("clang", options + [source, "-o", program]).run()
      try #require(built.status == 0, "\(built.text)")
      let run = try Program(Self.script, [program]).run()
      expect(run.status, equals: flaw == nil ? 0 : 1, "\(options): \(run.text)")
      #expect(flaw.map(run.text.contains) ?? true, "\(options): \(run.text)")
      expect(run.text.split(separator: "\n").count, equals: flaw == nil ? 0 : 1, "\(options): \(run.text)")
    }
  }

  /// Objects that were built without the macro in `Package.swift` have no such name.
  @Test("the C library checks the buffers of our C where the compiler knows their size")
  func fortified() throws {
    for module in ["CPAM", "COTPKernels", "CLinux"] {
      let folder = Built.directory.appendingPathComponent("\(module).build")
      let objects = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
        $0.hasSuffix(".o")
      }
      try #require(!objects.isEmpty)
      let names = try Program("nm", ["-u"] + objects.map { folder.path + "/" + $0 }).run()
      #expect(names.status == 0 && names.text.contains("_chk"), "\(module)")
    }
  }

  /// `scripts/build-release` refuses a program with the library of regular expressions in it, which costs time at each start. This finds
  /// the call before.
  ///
  /// Verified to fail on commit 3cb8af00, where an error looked for a word in a message.
  @Test("nothing that vaultctl consists of needs the library of regular expressions")
  func noRegularExpressions() throws {
    let layers = try Layers.read()
    let rooms = layers.below("vaultctl").filter {
      layers.room($0) != nil && !$0.hasPrefix("C") || $0 == "CommandLineKit"
    }
    #expect(rooms.count > 15)
    for room in rooms.sorted() {
      let folder = Built.directory.appendingPathComponent("\(room).build")
      let objects = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
        $0.hasSuffix(".o")
      }
      try #require(!objects.isEmpty, "\(room) has no objects")
      let names = try Program("nm", ["-u", "-A"] + objects.map { folder.path + "/" + $0 }).run()
      let calls = names.text.split(separator: "\n").filter { $0.contains("17_StringProcessing") }
      #expect(names.status == 0 && calls.isEmpty, "\(room): \(calls.first ?? "")")
    }
  }

  @Test("each program that is installed is linked so, and checked")
  func release() throws {
    let script = try Repository.text("scripts/build-release")
    #expect(
      script.contains("-Xlinker -z -Xlinker now")
        && script.contains("scripts/hardened \"$scratch/release/$product\""))
  }
}
