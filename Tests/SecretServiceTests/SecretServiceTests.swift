import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The device key in a Secret Service", .bounded, .serialized)
struct SecretServiceTests {
  @Test(
    "a vault whose key the service keeps opens with it; no key file is made, and the vault says who keeps it")
  func roundTrip() throws {
    let session = try Session()
    try session.makeVault()
    let files = try FileManager.default.subpathsOfDirectory(atPath: session.place.folder)
    #expect(!files.contains { $0.hasSuffix(".key") })
    try expect(VaultCore.outline(at: session.place.path).protector, equals: .secretService)
    try expect(session.rig.items().count, equals: 1)
    #expect(try session.isWhole())
  }

  @Test("from a file into the service and back: the old place is empty each time, and the vault opens")
  func changes() throws {
    let session = try Session()
    let files = session.place.protector
    let core = try VaultCore.create(
      at: session.place.path, protector: files, environment: session.place.environment
    )
    try session.fill(core)
    let vault = try core.status().vault
    try core.rotateDeviceKey(to: session.protector)
    #expect(try files.keys(of: vault) == [] && session.rig.items().count == 1)
    #expect(try session.isWhole())
    try core.rotateDeviceKey()
    #expect(try session.rig.items().count == 1 && core.status().protector == .secretService)
    try core.rotateDeviceKey(to: files)
    #expect(try files.keys(of: vault).count == 1 && session.rig.items() == [])
    _ = try session.place.openCore()
  }

  // Verified to fail when the old key is deleted once the new one is kept, before the commit that names it. No message
  // is sent between the two, so the faults before each message do not find it.
  @Test("a change of the key that the vault refuses leaves the old key where it is")
  func refusedChange() throws {
    var session = try Session()
    for (isInService, goesToService) in [(true, true), (true, false), (false, true)] {
      session.renew()
      if isInService { try session.makeVault() } else { try session.fill(session.place.makeCore()) }
      let core = try VaultCore.open(
        at: session.place.path, protector: isInService ? session.protector : session.place.protector,
        environment: session.place.environment)
      // The path of the vault leads nowhere, so the commit is refused.
      let path = session.place.path
      try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
      do throws(VaultError) {
        try core.rotateDeviceKey(to: goesToService ? session.protector : session.place.protector)
        Issue.record("changed")
      } catch { expect(error.code, equals: .io, "\(error)") }
      try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
      #expect(try session.isWhole(), "\(isInService), \(goesToService)")
    }
  }

  @Test("absent, locked, damaged, wrong, and no service are five errors, and none of them makes a key")
  func faults() throws {
    let session = try Session()
    try session.makeVault()
    let outline = try VaultCore.outline(at: session.place.path)
    let (vault, key) = (outline.vault.hexadecimal, outline.deviceKey.hexadecimal)
    let good = try session.protector.loadKey(outline.deviceKey, of: outline.vault)
    let text = session.text(of: good)
    #expect(session.openingFault() == nil)
    // Fails when loadKey takes any 32 bytes for the key.
    let other = Data(repeating: 7, count: 32).base64EncodedString()
    for (held, expected) in [
      (other, VaultError.Code.deviceKeyWrong), (String(text.dropLast(4)), .deviceKeyDamaged),
      (text + "AAAA", .deviceKeyDamaged), ("", .deviceKeyDamaged),
      (String(text.dropLast()) + "!", .deviceKeyDamaged),
      (Data(repeating: 7, count: 31).base64EncodedString(), .deviceKeyDamaged),
      (Data(repeating: 7, count: 33).base64EncodedString(), .deviceKeyDamaged),
      (String(repeating: "A", count: 8000), .deviceKeyDamaged),
    ] {
      try session.rig.put(held, vault: vault, key: key)
      expect(session.openingFault(), equals: expected, "\(held.prefix(50))")
      try expect(session.rig.items().count, equals: 1)
    }
    try session.rig.put(text, vault: vault, key: key)
    #expect(session.openingFault() == nil)
    try session.rig.lock()
    expect(session.openingFault(), equals: .deviceKeyLocked)
    session.rig.killDaemon()
    expect(session.openingFault(), equals: .deviceKeyUnavailable)
    try session.rig.startDaemon()
    #expect(session.openingFault() == nil)
    for item in try session.rig.items() {
      _ = try session.rig.call("org.freedesktop.Secret.Item.Delete", path: item)
    }
    expect(session.openingFault(), equals: .deviceKeyAbsent)
    // Verified to fail when loadKey puts a new key where it finds none.
    try expect(session.rig.items(), equals: [])
  }

  @Test(
    "of several items with the key's id the one that holds the key is found, and only that one is deleted")
  func duplicates() throws {
    let session = try Session()
    try session.makeVault()
    let outline = try VaultCore.outline(at: session.place.path)
    let key = try session.protector.loadKey(outline.deviceKey, of: outline.vault)
    // A second collection holds an item of the same attributes with another key in it; it is found first or last.
    try session.protector.storeKey(key, of: outline.vault)
    try session.rig.put("not a key", vault: outline.vault.hexadecimal, key: outline.deviceKey.hexadecimal)
    try session.protector.storeKey(key, of: outline.vault)
    #expect(try session.rig.items().count >= 2)
    #expect(session.openingFault() == nil)
    try session.protector.deleteKey(outline.deviceKey, of: outline.vault)
    // Fails when deleteKey removes whatever bears the attributes.
    try expect(session.rig.items().count, equals: 1)
    expect(session.openingFault(), equals: .deviceKeyDamaged)
  }

  @Test("init with a locked, absent or stopped service makes neither a vault nor a key")
  func refusedInit() throws {
    let session = try Session()
    func expectFault(_ code: VaultError.Code, _ protector: SecretServiceProtector? = nil, _ line: Int = #line)
    {
      // Verified to fail when storeKey and probe keep the service's answer to themselves, so that a vault has no key.
      expect(session.creationFault(protector), equals: code, "line \(line)")
      #expect(!FileManager.default.fileExists(atPath: session.place.path), "line \(line)")
    }
    try session.rig.lock()
    expectFault(.deviceKeyLocked)
    try session.rig.stopDaemon()
    let impatient = SecretServiceProtector(
      busAddress: session.rig.address, stateFolder: nil, patience: .milliseconds(100))
    expectFault(.deviceKeyUnavailable, impatient)
    session.rig.killDaemon()
    expectFault(.deviceKeyUnavailable)
    session.rig.killBus()
    expectFault(.deviceKeyUnavailable)
    try session.rig.mend()
    try expect(session.rig.items(), equals: [])
    #expect(session.creationFault() == nil)
  }

  // Fails when the time for a prompt is given to every call: 120 s.
  @Test("a service that may prompt and does not answer is given up as soon as any other")
  func stoppedPrompt() throws {
    let session = try Session()
    try session.makeVault()
    let outline = try VaultCore.outline(at: session.place.path)
    let clock = HeldClock()
    func load() -> Call {
      let asking = SecretServiceProtector(
        busAddress: session.rig.address, stateFolder: nil, prompting: .allowed, clock: clock.milliseconds)
      return Call { () throws(VaultError) in _ = try asking.loadKey(outline.deviceKey, of: outline.vault) }
    }
    try session.rig.stopDaemon()
    let unanswered = load()
    let time = try clock.run(atMost: .seconds(5)) { unanswered.isOver }
    #expect(unanswered.isOver, "still waits after \(time)")
    let error = try unanswered.wait()
    #expect(error?.code == .deviceKeyUnavailable && error?.underlying == 5, "\(error as Any)")
    // Nobody can show a prompt here: the service says so, and nothing waits.
    try session.rig.mend()
    try session.rig.lock()
    try expect(load().wait()?.code, equals: .deviceKeyLocked)
  }

  @Test("a service that would forget the key at logout, or has no default collection, keeps none")
  func transient() throws {
    let session = try Session()
    let set = "org.freedesktop.Secret.Service.SetAlias"
    _ = try session.rig.call(set, "string:default", "objpath:/org/freedesktop/secrets/collection/session")
    expect(session.creationFault(), equals: .deviceKeyUnavailable)
    _ = try session.rig.call(set, "string:default", "objpath:/")
    let alias = try session.rig.call("org.freedesktop.Secret.Service.ReadAlias", "string:default")
    if alias.contains("\"/\"") { expect(session.creationFault(), equals: .deviceKeyUnavailable) }
    try expect(session.rig.items(), equals: [])
  }

  @Test("a bus elsewhere is not used, and a session without one is said to have none")
  func addresses() throws {
    for address in ["tcp:host=127.0.0.1,port=1", "unix:path=/nowhere;tcp:host=x,port=1", "autolaunch:", ""] {
      let protector = SecretServiceProtector(busAddress: address, stateFolder: nil)
      let key = try DeviceKey(SecretBytes(testing: String(repeating: "k", count: 32)))
      // Fails when the address is handed on as it is: GLib would start a bus, or call another machine.
      do throws(VaultError) {
        try protector.storeKey(key, of: VaultID([UInt8](repeating: 1, count: 16))!)
        Issue.record("stored")
      } catch {
        #expect(
          error.code == .deviceKeyUnavailable && error.message.contains("not a local one"), "\(address)")
      }
    }
  }

  @Test("an old copy of the file put back is noticed by the witness file, though the key is in the service")
  func oldCopy() throws {
    let session = try Session()
    let core = try session.makeVault()
    let files = try FileManager.default.subpathsOfDirectory(atPath: session.place.folder)
    #expect(files.contains { $0.hasSuffix(".key.seen") })
    let status = try core.status()
    // Verified to fail when noteCommit writes nothing.
    expect(
      session.protector.seenCommit(under: status.deviceKey, of: status.vault)?.sequence,
      equals: status.sequence)
  }
}
