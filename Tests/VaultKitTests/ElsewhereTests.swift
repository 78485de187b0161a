import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault file that another machine wrote to, with the same device key and a memory of its own.
@Suite("A file that went on elsewhere", .bounded)
struct ElsewhereTests {
  private let place = TemporaryVault()

  /// This machine.
  private func here() throws -> VaultCore { try place.openCore() }

  /// Another machine, which does not know what this one has seen.
  private func elsewhere() throws -> VaultCore {
    try VaultCore.open(
      at: place.path, protector: Forgetful(files: place.protector), environment: place.environment)
  }

  private func add(_ name: String, to core: VaultCore) throws {
    _ = try core.add(NewItem(.genericPassword, name: name))
  }

  /// Verified to fail when the entry of the witness is not looked for in the log.
  @Test("is told with the number of the commit that it lacks, though it has more commits than were seen here")
  func lacking() throws {
    let prover: ItemID = try {
      let core = try place.makeCore()
      var item = NewItem(.otp, name: "prover")
      (item.attributes[.otpType], item.attributes[.otpRole]) = (1, 1)
      return try core.add(item, secret: SecretBytes(testing: "12345678901234567890"), by: Component(.otp)).id
    }()
    do { try add("one", to: here()) }
    try place.keepRows()
    let lost = try { () throws in
      let core = try here()
      try add("two", to: core)
      return try core.status().sequence
    }()
    try place.putRowsBack()
    do {
      let other = try elsewhere()
      for name in ["three", "four", "five"] { try add(name, to: other) }
      #expect(try other.status().sequence > lost)
    }
    let core = try here()
    expect(core.missingCommit, equals: lost)
    #expect(core.checkedAsCopy != nil)
    try expect(core.status().missingCommit, equals: lost)
    let report = try core.verify()
    #expect(report.missingCommit == lost && !report.isComplete && report.problems.isEmpty)
    try add("six", to: core)
    #expect(try core.state(of: prover).needsResync)
    let details = try core.auditEntries().filter { $0.operation == .copyDetected }.map(\.detail)
    expect(details, equals: ["commit \(lost) is not in the file; 1 counters need a resynchronization"])
    // From here on, this file is the one that this machine has seen.
    #expect(try here().missingCommit == nil && here().verify().isComplete)
  }

  @Test(
    "is told of nothing where the other machine went on from what was seen here, also with new keys of the epoch"
  )
  func goneOn() throws {
    do { try add("one", to: place.makeCore()) }
    for round in 0..<3 {
      do { try add("here \(round)", to: here()) }
      do {
        let other = try elsewhere()
        try add("elsewhere \(round)", to: other)
        try other.rotateEpoch()
      }
      let core = try here()
      #expect(core.missingCommit == nil && core.checkedAsCopy == nil)
    }
  }

  /// A log keeps 64 segments, and that of a restored vault begins in the middle. Verified to fail when the entry is not looked
  /// for.
  @Test("is told of nothing where the entry is older than the log")
  func before() throws {
    let backup = place.folder + "/backup"
    let core = try place.makeCore()
    try add("one", to: core)
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "passphrase"))
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "passphrase"), to: place.folder + "/new/v.vault",
      protector: place.protector, environment: place.environment)
    let status = try restored.core.status()
    let path = place.protector.path(of: status.deviceKey, status.vault) + ".seen"
    for (number, isMissing) in [(1, false), (status.auditSequence, true), (status.auditSequence + 1, true)] {
      unsafe unlink(path)
      let entry = SeenCommit.Entry(number: number, mac: [UInt8](repeating: 7, count: 32))
      place.protector.noteCommit(
        SeenCommit(sequence: 1, entry: entry), under: status.deviceKey, of: status.vault)
      let opened = try VaultCore.open(
        at: place.folder + "/new/v.vault", protector: place.protector, environment: place.environment)
      expect(opened.missingCommit != nil, equals: isMissing, "entry \(number)")
    }
  }

  /// Two machines write, copy and put back at random. The model is the list of commits that a state consists of. Verified to fail
  /// when only the numbers of commits are compared.
  @Test("is told if and only if the last commit of this machine is not among those of the file")
  func model() throws {
    var random = SeededGenerator()
    do { try add("first", to: place.makeCore()) }
    var (file, kept, last, next) = ([0], [0], 0, 1)
    try place.keepRows()
    for round in 0..<120 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        try add("item \(round)", to: here())
        file.append(next)
        (last, next) = (next, next + 1)
      case 1, 2:
        let other = try elsewhere()
        for part in 0..<Int.random(in: 1...3, using: &random) {
          try add("item \(round) \(part)", to: other)
          file.append(next)
          next += 1
        }
      case 3:
        kept = file
        try FileManager.default.removeItem(atPath: place.folder + "/kept.db")
        try place.keepRows()
      default:
        file = kept
        try place.putRowsBack()
      }
      try expect(here().missingCommit != nil, equals: !file.contains(last), "round \(round)")
    }
  }
}
