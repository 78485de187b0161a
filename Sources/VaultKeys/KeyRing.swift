package import DeviceKeys
package import VaultFormat
package import SecretMemory
package import VaultCrypto
package import VaultStorage

/// The opened keys of a vault, as of one `config`. The header and the slots were authenticated when the ring was made.
///
/// This is the front page of VaultKeys, the module that opens the keys of a vault and prepares their changes. What a
/// person types becomes a key. That key opens slots; the slots hold root keys and class keys, and the keys of the rows
/// are derived from the root keys. The module knows no transaction: the modules above write what it prepares.
///
/// - ``GenerationKeys`` are the keys that are derived from the root keys of one generation.
/// - ``GuardedKeys`` are the keys that only the passcode opens; ``VaultLatch`` wipes them from any thread.
/// - ``SlotSeal`` seals and opens a slot.
/// - ``PasscodeKeys``, ``FactorSlots`` and ``RecoveryCode`` are the ways in: passcode, other factors, recovery code.
/// - ``KeyChange`` is a change of header and slots: a new passcode, member, device key or generation.
/// - ``Lockout`` and ``BiometryLockout`` delay or stop wrong attempts.
/// - ``VaultEnvironment`` holds the clocks, the randomness and the derivation costs.
///
/// Read `GenerationKeys.swift` first, then `SlotSeal.swift`, this file, `KeyChange.swift`, `FactorSlots.swift` and
/// `Lockout.swift`.
package struct KeyRing: ~Copyable, Sendable {
  package let header: Header
  package let slots: [SlotRow]
  package let current: GenerationKeys
  package let previous: GenerationKeys?
  /// The keys that are open without a passcode.
  private var opened: OpenedKeys
  /// The keys that only the passcode opens. A lock wipes them.
  package let guarded: GuardedKeys
  /// The key of header field 16, open while the vault is unlocked; `nil` without a passcode. When it is open, field 16
  /// has been checked.
  package var trustKey: SharedSecret? { guarded.use { $0.trust } }
  /// Whether another process removed the passcode: what the passcode had protected stays shut here.
  package private(set) var isShut = false

  /// The ring that a device key opens: the header MAC is checked, and the classes that need no passcode are open.
  package init(
    header row: HeaderRow, slots: [SlotRow], deviceKey: borrowing DeviceKey, environment: VaultEnvironment
  ) throws(VaultError) {
    let header = try Self.header(in: row, environment)
    guard deviceKey.id == header.deviceKey else {
      throw VaultError(
        .deviceKeyWrong, "the device key is not the one this vault was last opened with",
        hint: .nameRightKey)
    }
    let seal = SlotSeal(vault: header.vault, random: environment.random)
    func stored(_ kind: SlotKind, generation: UInt32) throws(VaultError) -> SecretBytes {
      let address = SlotAddress(
        kind, generation: generation, opener: .deviceKey, openerID: header.deviceKey.bytes)
      guard let slot = slots.first(where: { SlotAddress($0) == address }) else { throw Self.damaged }
      return try seal.key(in: slot, at: address, under: deviceKey.bytes)
    }
    let current = try GenerationKeys(
      generation: header.generation, root: try stored(.root, generation: header.generation),
      deviceRoot: SharedSecret(try stored(.deviceRoot, generation: header.generation)))
    var previous: GenerationKeys?
    if let generation = header.previousGeneration {
      // After a recovery in the middle of a rotation, the old generation no longer has a this-device root key.
      let hasDeviceRoot = slots.contains {
        $0.kind == SlotKind.deviceRoot.rawValue && $0.generation == generation
      }
      previous = try GenerationKeys(
        generation: generation, root: try stored(.root, generation: generation),
        deviceRoot: hasDeviceRoot ? SharedSecret(try stored(.deviceRoot, generation: generation)) : nil)
    }
    try self.init(row: row, header: header, slots: slots, current: current, previous: previous, seal: seal)
  }

  /// The ring that the recovery code opens: only root keys, so this-device-only classes stay shut.
  package init(
    header row: HeaderRow, slots: [SlotRow], recovery: borrowing RecoveryCode, environment: VaultEnvironment
  ) throws(VaultError) {
    let header = try Self.header(in: row, environment)
    guard header.recoveryHalf != nil else { throw RecoveryCode.isAbsent }
    let root = try recovery.openRoot(of: header.generation, in: slots, vault: header.vault)
    let current = try GenerationKeys(generation: header.generation, root: root, deviceRoot: nil)
    var previous: GenerationKeys?
    if let number = header.previousGeneration {
      let root = try recovery.openRoot(of: number, in: slots, vault: header.vault)
      previous = try GenerationKeys(generation: number, root: root, deviceRoot: nil)
    }
    try self.init(
      row: row, header: header, slots: slots, current: current, previous: previous,
      seal: SlotSeal(vault: header.vault, random: environment.random))
  }

  /// The ring of a backup, opened with the key of its passphrase.
  ///
  /// - Throws: `.authenticationFailed` for a wrong passphrase.
  package init(
    header row: HeaderRow, slots: [SlotRow], passphrase key: borrowing SecretBytes,
    _ derivation: KeyDerivation,
    environment: VaultEnvironment
  ) throws(VaultError) {
    let header = try Self.header(in: row, environment)
    let seal = SlotSeal(vault: header.vault, random: environment.random)
    func keys(of generation: UInt32) throws(VaultError) -> GenerationKeys {
      let address = SlotAddress(.root, generation: generation, opener: .passphrase)
      guard let slot = slots.first(where: { SlotAddress($0) == address }) else { throw Self.damaged }
      let root: SecretBytes
      do throws(CryptoError) {
        root = try seal.open(slot, at: address, under: key, derivation: derivation)
      } catch .commitmentMismatch {
        throw VaultError(.authenticationFailed, "wrong passphrase")
      } catch { throw VaultError(crypto: error) }
      return try GenerationKeys(generation: generation, root: root, deviceRoot: nil)
    }
    let current = try keys(of: header.generation)
    let previous =
      if let before = header.previousGeneration { try keys(of: before) } else { nil as GenerationKeys? }
    try self.init(row: row, header: header, slots: slots, current: current, previous: previous, seal: seal)
  }

  /// Checks that the head row belongs to this header. An older header that was put back also has a valid MAC. With a
  /// planted audit root for a later segment, an attacker could write that segment.
  ///
  /// - Throws: ``VaultError/Code/damaged``.
  package func check(_ head: borrowing Head) throws(VaultError) {
    guard head.config == header.config else {
      throw VaultError(
        .damaged, "header and head row of the vault do not belong together",
        hint: "restore the vault from a backup")
    }
    // A new vault gets its first segment before its file gets its name.
    let roots = slots.compactMap { SlotAddress($0) }.filter { $0.kind == .auditRoot }.map {
      UInt64($0.subject)
    }
    // Without a root, a rewritten log would look like an honest one.
    guard head.segment > 0, !roots.isEmpty, roots.allSatisfy({ $0 <= head.segment }) else {
      throw Self.damaged
    }
  }

  /// The ring at a later `config` of the same generation, made without the device key.
  package static func reading(
    _ row: HeaderRow, slots: [SlotRow], as before: borrowing KeyRing, environment: VaultEnvironment
  ) throws(VaultError) -> KeyRing? {
    let header = try Self.header(in: row, environment)
    guard header.vault == before.header.vault, header.generation == before.current.generation,
      before.current.deviceRoot != nil,
      header.previousGeneration == nil || header.previousGeneration == before.previous?.generation,
      hasDeviceRoot(of: before, slots)
    else { return nil }
    let previous = header.previousGeneration == nil ? nil : before.previous
    let seal = SlotSeal(vault: header.vault, random: environment.random)
    let ring = try KeyRing(
      row: row, header: header, slots: slots, current: before.current, previous: previous, seal: seal)
    let held = before.guarded.content
    ring.keepOpen(held, of: before)
    let present = ring.guarded.content.keys
    // Within a generation a class key never changes: a different key comes from a person who bypassed the passcode.
    for old in before.opened.keys + held.keys.keys where old.address.kind == .classKey {
      guard let now = ring.opened[old.address] ?? present[old.address] else { continue }
      guard now.bytes.isEqualInConstantTime(to: old.key.bytes) else { throw Self.damaged }
    }
    try ring.checkFactorMAC()
    return ring
  }

  /// Whether the this-device root key is unchanged. A recovery or a restore makes a new one, which only the device key
  /// opens. It also makes a new key of this class, which always has a slot under the base key.
  private static func hasDeviceRoot(of before: borrowing KeyRing, _ slots: [SlotRow]) -> Bool {
    let address = SlotAddress(
      .classKey, subject: 0x82, generation: before.current.generation, opener: .base)
    let now = slots.first { SlotAddress($0) == address }
    return now?.body == before.slots.first { SlotAddress($0) == address }?.body
  }

  /// Keeps open what the passcode had opened, but only where the slot is byte for byte the same. A slot that was sealed
  /// again may hold another key, and an item sealed under the old key would never open.
  private func keepOpen(_ held: GuardedKeys.Content, of before: borrowing KeyRing) {
    var kept = GuardedKeys.Content()
    for slot in slots {
      guard let address = SlotAddress(slot), address.opener == .unlock,
        before.slots.contains(where: { SlotAddress($0) == address && $0.body == slot.body })
      else { continue }
      switch address.kind {
      case .classKey, .auditRoot: kept.keys[address] = held.keys[address]
      case .trust: kept.trust = held.trust
      default: continue
      }
    }
    guarded.add(kept)
  }

  /// The header that every way to the keys begins with: none opens a vault of a test in the real world.
  private static func header(in row: HeaderRow, _ environment: VaultEnvironment) throws(VaultError) -> Header
  {
    let header = try Header(decoding: row.body)
    try environment.refuseVaultOfTest(header)
    return header
  }

  private init(
    row: HeaderRow, header: Header, slots: [SlotRow], current: GenerationKeys,
    previous: GenerationKeys?, seal: SlotSeal
  ) throws(VaultError) {
    let mac = current.headerMAC.code(for: header.authenticatedBytes(with: slots))
    guard isEqualInConstantTime(mac, row.mac) else { throw Self.damaged }
    try header.check(slots, set: try current.storedSet(of: header))
    var (opened, guarded) = (OpenedKeys(), GuardedKeys.Content())
    for slot in slots {
      guard let address = SlotAddress(slot), address.opener == .base,
        let keys = [current, previous].compactMap({ $0 }).first(where: { $0.generation == address.generation }
        ),
        !address.isThisDeviceOnly || keys.deviceRoot != nil
      else { continue }
      let key = try seal.key(in: slot, at: address, under: keys.slotKey(for: address).bytes)
      if address.kind == .auditRoot, header.hasPasscode {
        guarded.keys[address] = SharedSecret(key)
      } else {
        opened[address] = SharedSecret(key)
      }
    }
    self.header = header
    self.slots = slots
    self.current = current
    self.previous = previous
    self.opened = opened
    self.guarded = GuardedKeys(beside: [current, previous].compactMap { $0 })
    self.guarded.set(guarded)
  }

  /// The keys of a right passcode, which are not those of the ring yet.
  package struct Unlocked: Sendable {
    let content: GuardedKeys.Content
  }

  /// Opens what the passcode opens, in a ring that no session has yet.
  ///
  /// - Throws: As ``unlocked(with:random:)``.
  package func unlock(with passcode: PasscodeKeys, random: any RandomSource) throws(VaultError) {
    guarded.add(try unlocked(with: passcode, random: random).content)
  }

  /// The keys that the passcode opens. The ring stays as it is: see ``VaultLatch/open(_:of:at:)``.
  ///
  /// - Throws: `.authenticationFailed` for a wrong passcode; `.damaged` for damaged slots.
  package func unlocked(with passcode: PasscodeKeys, random: any RandomSource) throws(VaultError) -> Unlocked
  {
    let seal = SlotSeal(vault: header.vault, random: random)
    var unlocked: [(SlotAddress, SharedSecret)] = []
    for slot in slots {
      guard let address = SlotAddress(slot), address.opener == .unlock,
        let keys = keys(of: address.generation), !address.isThisDeviceOnly || keys.deviceRoot != nil
      else { continue }
      let outer = try keys.slotKey(for: address)
      let key: SecretBytes
      do throws(CryptoError) {
        key = try seal.open(
          slot, at: address, under: outer.bytes, inside: passcode.unlock, derivation: passcode.derivation)
      } catch .commitmentMismatch {
        throw VaultError(.authenticationFailed, "wrong passcode")
      } catch { throw VaultError(crypto: error) }
      unlocked.append((address, SharedSecret(key)))
    }
    guard unlocked.contains(where: { $0.0.hasName(of: unlockedAddress) }),
      let trust = unlocked.first(where: { $0.0.kind == .trust })?.1, try isFactorMACRight(trust)
    else { throw Self.damaged }
    var content = GuardedKeys.Content(trust: trust)
    for (address, key) in unlocked where [.classKey, .auditRoot].contains(address.kind) {
      content.keys[address] = key
    }
    return Unlocked(content: content)
  }

  /// Permanently drops what a passcode had protected, because another process wrote this header without a passcode. The
  /// classes of after first unlock stay open.
  package mutating func shut() {
    func isShut(_ address: SlotAddress) -> Bool { address.kind == .auditRoot || address.subject & 0x7F != 2 }
    opened.keys.removeAll { isShut($0.address) }
    var content = guarded.content
    content.keys.keys.removeAll { isShut($0.address) }
    content.trust = nil
    guarded.set(content)
    self.isShut = true
  }

  /// Whether every class key of the current generation is open.
  package var isUnlocked: Bool { key(at: unlockedAddress) != nil }

  private var unlockedAddress: SlotAddress {
    SlotAddress(.classKey, subject: 1, generation: current.generation, opener: .unlock)
  }

  package func classKey(_ number: UInt8, generation: UInt32) -> SharedSecret? {
    key(at: SlotAddress(.classKey, subject: UInt32(number), generation: generation, opener: .base))
  }

  private func key(at address: SlotAddress) -> SharedSecret? {
    opened[address] ?? guarded.use { $0.keys[address] }
  }

  /// The audit roots by the first segment of their chain, open whenever the vault is unlocked.
  package var auditRoots: [UInt32: SharedSecret] {
    var roots: [UInt32: SharedSecret] = [:]
    let guarded = guarded.use { content in
      let roots = content.keys.keys.filter { $0.address.kind == .auditRoot }
      return roots.isEmpty ? nil : roots
    }
    for root in opened.keys + (guarded ?? []) where root.address.kind == .auditRoot {
      roots[root.address.subject] = root.key
    }
    return roots
  }

  /// The keys of a generation that is readable now.
  package func keys(of generation: UInt32) -> GenerationKeys? {
    if generation == current.generation { return current }
    return previous?.generation == generation ? previous : nil
  }

  /// The keys of the generation that a seal names; `nil` if it names none that is known.
  package func keys(sealing seal: [UInt8]) -> GenerationKeys? {
    do throws(CryptoError) { return keys(of: try RecordSeal.generation(of: seal)) } catch { return nil }
  }

  /// Public halves, members and audit roots must be those that the holder of the passcode made. All keys that a
  /// passcode opens are open together, because every honest change seals them all again.
  private func checkFactorMAC() throws(VaultError) {
    guard header.hasPasscode, isUnlocked || trustKey != nil else { return }
    guard isUnlocked, let trustKey, try isFactorMACRight(trustKey) else { throw Self.damaged }
  }

  private func isFactorMACRight(_ key: SharedSecret) throws(VaultError) -> Bool {
    isEqualInConstantTime(try current.factorMAC(of: header, slots: slots, trust: key), header.factorMAC ?? [])
  }

  /// The error of a ring that is shut.
  package static var shutError: VaultError {
    VaultError(
      .locked, "another process removed the vault's passcode",
      hint: "if you wanted that, open the vault again")
  }

  /// The error for a missing slot or a wrong MAC.
  package static var damaged: VaultError {
    VaultError(
      .damaged, "the vault's keys were altered or are damaged", hint: "restore the vault file from a backup")
  }
}
