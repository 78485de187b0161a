package import DeviceKeys
package import VaultFormat
package import SecretMemory
package import VaultCrypto
package import VaultStorage

/// A change of header and slots, prepared and then written in one transaction. In the world of a test, it marks the
/// header (field 17).
package struct KeyChange {
  package var header: Header
  package var slots: [SlotRow]
  package let keys: GenerationKeys
  /// The keys of the previous generation during a rotation: changes are wrapped for both generations.
  package let previous: GenerationKeys?
  let environment: VaultEnvironment
  /// The audit root made by this change, from which a new chain starts.
  package private(set) var auditRoot: SharedSecret?
  /// Suite-2 seals made by this change.
  package var seals: UInt64 = 0

  package var random: any RandomSource { environment.random }

  package var seal: SlotSeal { SlotSeal(vault: header.vault, random: random) }

  package init(
    header: Header, slots: [SlotRow], keys: GenerationKeys, previous: GenerationKeys? = nil,
    environment: VaultEnvironment
  ) {
    self.header = header
    self.header.add(environment.testMarks)
    self.slots = slots
    self.keys = keys
    self.previous = previous
    self.environment = environment
  }

  /// The header as it is written.
  package var row: HeaderRow {
    let mac = keys.headerMAC.code(for: header.authenticatedBytes(with: slots))
    return HeaderRow(body: header.record.encoded, mac: mac)
  }

  // MARK: Roots

  /// Root key and this-device root key for a device key, which becomes the header's.
  package mutating func setDeviceKey(_ key: borrowing DeviceKey) throws(VaultError) {
    slots.removeAll { $0.opener == SlotOpener.deviceKey.rawValue }
    header.deviceKey = key.id
    try putRoots(under: key)
  }

  /// The same for a key that replaces another one, which the header then lists as replaced.
  ///
  /// - Parameter isShared: Whether the file is a copy: then the replaced key is not listed, because it may be the key
  ///   of the original file.
  package mutating func replaceDeviceKey(with key: borrowing DeviceKey, isShared: Bool) throws(VaultError) {
    let before = header.deviceKey
    try setDeviceKey(key)
    if !isShared { header.addReplaced(before) }
  }

  package mutating func putRoots(under key: borrowing DeviceKey) throws(VaultError) {
    for keys in generations {
      let root = SlotAddress(
        .root, generation: keys.generation, opener: .deviceKey, openerID: key.id.bytes)
      put(root, try seal.seal(keys.root, at: root, under: key.bytes))
      if let deviceRoot = keys.deviceRoot {
        let address = SlotAddress(
          .deviceRoot, generation: keys.generation, opener: .deviceKey, openerID: key.id.bytes)
        put(address, try seal.seal(deviceRoot.bytes, at: address, under: key.bytes))
      }
    }
  }

  /// The generations in force: two while a rotation is under way.
  package var generations: [GenerationKeys] { [keys] + (previous.map { [$0] } ?? []) }

  // MARK: Classes and factors without a passcode

  /// The class keys and the audit root of a new vault.
  package mutating func makeClasses() throws(VaultError) {
    for number: UInt8 in [1, 2, 0x81, 0x82] {
      try putBase(.classKey, subject: UInt32(number), key: try freshKey())
    }
    auditRoot = SharedSecret(try freshKey())
    try putBase(.auditRoot, subject: 1, key: auditRoot!.bytes)
  }

  // MARK: Passcode

  /// Puts the unlocked classes and the audit roots behind a passcode and makes the keys that need one. In a vault that
  /// had no passcode, call ``forgetTrust(beyond:)`` first.
  ///
  /// - Parameter segment: The next audit segment of a vault that was used without a passcode: each holder of its device
  ///   key knows the old root, so a new chain starts there. `nil` for a new vault.
  package mutating func setPasscode(_ passcode: PasscodeKeys, segment: UInt32? = nil) throws(VaultError) {
    for base in behindPasscode(.base) {
      var address = base
      address.opener = .unlock
      let key = try openBase(base)
      put(address, try sealed(key, at: address, inside: passcode.unlock, derivation: passcode.derivation))
      slots.removeAll { SlotAddress($0) == base }
    }
    try putUnlock(.classKey, subject: 0x83, key: try freshKey(), passcode: passcode)
    if let segment {
      auditRoot = SharedSecret(try freshKey())
      try putUnlock(.auditRoot, subject: segment, key: auditRoot!.bytes, passcode: passcode)
    }
    for factor in [Factor.passcode, .presence, .any] {
      let pair = try freshPair()
      header.factors[factor] = pair.publicKey
      let address = factorAddress(factor, opener: .prompt)
      let body = try sealed(
        pair.privateKey, at: address, inside: passcode.prompt, derivation: passcode.derivation)
      put(address, body)
    }
    header.passcodeDerivation = passcode.derivation
    try makeTrust(passcode)
  }

  /// Makes a trust key of this generation, and header field 16 under it, after everything that the field covers is in
  /// its place. Never reuses an old key, because a holder of the device key from before the passcode, or of an old
  /// passcode, has it.
  package mutating func makeTrust(_ passcode: PasscodeKeys) throws(VaultError) {
    let trust = SharedSecret(try freshKey())
    slots.removeAll { SlotAddress($0)?.kind == .trust }
    try putUnlock(.trust, subject: 0, key: trust.bytes, passcode: passcode)
    try authenticate(with: trust)
  }

  /// Makes header field 16 for the current header and slots.
  package mutating func authenticate(with trust: SharedSecret) throws(VaultError) {
    header.factorMAC = try keys.factorMAC(of: header, slots: slots, trust: trust)
  }

  /// The key for header field 16; `nil` without a passcode.
  ///
  /// - Parameter trust: The trust key where it is open.
  /// - Throws: ``VaultError/Code/locked`` if the trust key is not open and a passcode is set.
  package func authenticator(_ trust: SharedSecret?) throws(VaultError) -> SharedSecret? {
    guard header.hasPasscode else { return nil }
    guard let trust else { throw VaultError(.locked, "the vault is locked", hint: "unlock it first") }
    return trust
  }

  /// Seals everything that the old passcode opens for the new one, and makes a new trust key. With the old trust key,
  /// an attacker could put an older header back beside the new slots. Touches no item.
  package mutating func changePasscode(from old: PasscodeKeys, to new: PasscodeKeys)
    throws(VaultError)
  {
    try checkTrust(old)
    for slot in slots {
      guard let address = SlotAddress(slot), address.kind != .trust else { continue }
      switch address.opener {
      case .unlock:
        let key = try open(slot, at: address, inside: old.unlock, derivation: old.derivation)
        put(address, try sealed(key, at: address, inside: new.unlock, derivation: new.derivation))
      case .prompt:
        let key = try open(slot, at: address, inside: old.prompt, derivation: old.derivation)
        put(address, try sealed(key, at: address, inside: new.prompt, derivation: new.derivation))
      default: continue
      }
    }
    header.passcodeDerivation = new.derivation
    try makeTrust(new)
  }

  /// Checks header field 16 before it is made again: another program may have written a header since the unlock.
  private func checkTrust(_ passcode: PasscodeKeys) throws(VaultError) {
    let address = SlotAddress(.trust, generation: keys.generation, opener: .unlock)
    let trust = SharedSecret(
      try open(slot(address), at: address, inside: passcode.unlock, derivation: passcode.derivation))
    guard
      isEqualInConstantTime(
        try keys.factorMAC(of: header, slots: slots, trust: trust), header.factorMAC ?? [])
    else {
      throw KeyRing.damaged
    }
  }

  /// Removes the passcode. Keys that only the passcode opened are lost forever.
  package mutating func removePasscode(_ old: PasscodeKeys) throws(VaultError) {
    for address in behindPasscode(.unlock) {
      var base = address
      base.opener = .base
      let key = try open(try slot(address), at: address, inside: old.unlock, derivation: old.derivation)
      put(base, try seal.seal(key, at: base, under: slotKey(for: base).bytes))
    }
    slots.removeAll { $0.opener == SlotOpener.unlock.rawValue || $0.kind == SlotKind.trust.rawValue }
    try forgetMembers()
    header.passcodeDerivation = nil
    header.factorMAC = nil
  }

  /// The slots that need the passcode if there is one, and otherwise the base key. During a rotation, the slots of both
  /// generations.
  private func behindPasscode(_ opener: SlotOpener) -> [SlotAddress] {
    slots.compactMap { SlotAddress($0) }.filter { address in
      guard address.opener == opener else { return false }
      return address.kind == .auditRoot || address.kind == .classKey && address.subject & 0x7F == 1
    }
  }

  // MARK: Single slots

  package mutating func putBase(_ kind: SlotKind, subject: UInt32, key: borrowing SecretBytes)
    throws(VaultError)
  {
    let address = SlotAddress(kind, subject: subject, generation: keys.generation, opener: .base)
    put(address, try seal.seal(key, at: address, under: slotKey(for: address).bytes))
  }

  package mutating func putUnlock(
    _ kind: SlotKind, subject: UInt32, key: borrowing SecretBytes, passcode: PasscodeKeys
  ) throws(VaultError) {
    let address = SlotAddress(kind, subject: subject, generation: keys.generation, opener: .unlock)
    put(address, try sealed(key, at: address, inside: passcode.unlock, derivation: passcode.derivation))
  }

  func sealed(
    _ key: borrowing SecretBytes, at address: SlotAddress, inside inner: borrowing SecretBytes,
    derivation: KeyDerivation?
  ) throws(VaultError) -> [UInt8] {
    try seal.seal(
      key, at: address, under: slotKey(for: address).bytes, inside: inner, derivation: derivation)
  }

  private func open(
    _ slot: SlotRow, at address: SlotAddress, inside inner: borrowing SecretBytes, derivation: KeyDerivation
  ) throws(VaultError) -> SecretBytes {
    try seal.key(
      in: slot, at: address, under: slotKey(for: address).bytes, inside: inner, derivation: derivation)
  }

  private func openBase(_ address: SlotAddress) throws(VaultError) -> SecretBytes {
    try seal.key(in: slot(address), at: address, under: slotKey(for: address).bytes)
  }

  func slotKey(for address: SlotAddress) throws(VaultError) -> SharedSecret {
    guard let keys = generations.first(where: { $0.generation == address.generation }) else {
      throw VaultError(.damaged, "a key of the vault names a generation that does not exist")
    }
    return try keys.slotKey(for: address)
  }

  private func slot(_ address: SlotAddress) throws(VaultError) -> SlotRow {
    guard let slot = slots.first(where: { SlotAddress($0) == address }) else {
      throw VaultError(.damaged, "a key of the vault is missing", hint: "restore the vault from a backup")
    }
    return slot
  }

  package mutating func put(_ address: SlotAddress, _ body: [UInt8]) {
    slots.removeAll { SlotAddress($0) == address }
    slots.append(address.row(id: (slots.map(\.id).max() ?? 0) + 1, body: body))
  }

  private func factorAddress(_ factor: Factor, opener: SlotOpener) -> SlotAddress {
    SlotAddress(.factor, subject: factor.rawValue, generation: keys.generation, opener: opener)
  }

  package func freshKey() throws(VaultError) -> SecretBytes {
    try random.newSecret(32)
  }

  private func freshPair() throws(VaultError) -> X25519KeyPair {
    try random.newKeyPair()
  }
}
