import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultWords

extension ItemLineReader.Fields {
  /// Checks what the fields say together.
  func line(_ number: Int, allowingWeak allowsWeak: Bool) throws(CommandError) -> ItemLine {
    guard let kind = texts["kind"], kind == "password" || kind == "otp" else {
      throw .unreadableLine("\"kind\" is neither password nor otp")
    }
    let name = try name(kind)
    for (key, text) in texts where key != "name" { try Names.checkText(text, named: "\"\(key)\"") }
    for key in ["service", "account"] { try Names.checkShown(texts[key] ?? "", named: "\"\(key)\"") }
    let secret = try kind == "password" ? content.password() : credential()
    var line = ItemLine(
      number: number, item: try newItem(kind, name: name), allowsWeak: allowsWeak, secret: secret)
    line.isOfEntry = flags["ofEntry"] ?? false
    line.item.trashedUntil = try instant("trashUntil")
    guard kind == "otp" else {
      if content.hasEntry { line.entry = try content.entry() }
      for former in former { line.former.append(try former.former()) }
      guard texts["role"] == nil, numbers["window"] == nil, flags["needsResync"] == nil,
        flags["exhausted"] == nil, counter == nil, texts["suite"] == nil, flags["ofEntry"] == nil
      else {
        throw .unreadableLine(
          "\"role\", \"window\", \"needsResync\", \"exhausted\", \"suite\", \"counter\" and \"ofEntry\" are for credentials"
        )
      }
      return line
    }
    guard !content.hasEntry, former.isEmpty else {
      throw .unreadableLine("\"notes\", \"urls\", \"fields\" and \"former\" are for passwords")
    }
    line.role = try choice("role", values: ["prover": OTPRole.prover, "verifier": .verifier]) ?? .prover
    line.window = try numbers["window"].map { value throws(CommandError) in
      guard let window = UInt64(exactly: value), (1...10_000).contains(window) else {
        throw .unreadableLine("\"window\" is not from 1 to 10000")
      }
      return window
    }
    line.item.state.needsResync = flags["needsResync"] ?? false
    try readSuite(of: &line)
    let counter = line.suite == nil ? try line.hotpCounter() : counter
    line.item.state.isBlocked = flags["exhausted"] ?? false
    guard !line.item.state.isBlocked || counter == .max else {
      throw .unreadableLine("\"exhausted\" is for a counter at its end, \(UInt64.max)")
    }
    return line
  }

  /// Only the former code of an entry has no name, in the trash.
  private func name(_ kind: String) throws(CommandError) -> String? {
    guard let name = texts["name"] else {
      guard kind == "otp", numbers["trashUntil"] != nil else { throw .unreadableLine("\"name\" is missing") }
      return nil
    }
    try Names.checkNew(name, named: "\"name\"")
    return name
  }

  /// What a credential's codes are made of.
  private func credential() throws(CommandError) -> SharedSecret {
    let sources = ["secret", "secretBase64", "uri"].filter(seen.contains)
    guard sources.count == 1, let given = content.secret, (sources[0] == "uri") == (texts["suite"] == nil)
    else {
      throw .unreadableLine(
        texts["suite"] == nil
          ? "a credential needs \"uri\" alone, or \"suite\" and a secret"
          : "a credential with \"suite\" needs \"secret\" or \"secretBase64\"")
    }
    guard given.byteCount > 0 else { throw .unreadableLine("the secret is empty") }
    return given
  }

  private func instant(_ key: String) throws(CommandError) -> Instant? {
    try numbers[key].map { seconds throws(CommandError) in
      let instant = Instant(seconds: seconds)
      guard ItemLimits.expiries.contains(instant) else {
        throw .unreadableLine("\"\(key)\" is not a number of seconds since 1970, up to the year 9999")
      }
      return instant
    }
  }

  private func readSuite(of line: inout ItemLine) throws(CommandError) {
    if let text = texts["suite"] {
      do throws(OTPError) { line.suite = try OCRASuite(text) } catch {
        throw .unreadableLine("\"suite\": \(error.message)")
      }
    }
    guard let counter else { return }
    guard line.suite?.hasCounter == true else {
      throw .unreadableLine("\"counter\" is for credentials whose \"suite\" has C; a URI has its own")
    }
    line.item.state.counter = counter
  }

  private func newItem(_ kind: String, name: String?) throws(CommandError) -> NewItem {
    var attributes = Attributes()
    for (key, attribute) in ItemLine.attributes {
      if let text = texts[key], !text.isEmpty { attributes[attribute] = text }
    }
    // Not by the argument `name`, which would also become the account where the line gives none.
    attributes[.name] = name
    var tags: [String] = []
    for tag in self.tags { tags.append(try Tags.checked(tag, named: "a tag")) }
    attributes[.tags] = Tags.attribute(tags)
    var item = NewItem(kind == "otp" ? .otp : .genericPassword, attributes: attributes)
    let accessible = try choice(
      "accessible", values: Dictionary(uniqueKeysWithValues: Accessibility.allCases.map { ($0.word, $0) }))
    item.access = try access(accessible ?? .whenUnlocked)
    item.audit = try choice("audit", values: ["changes": AuditPolicy.changes, "all": .all]) ?? .changes
    item.expiry = try choice("expiry", values: ["warn": ExpiryRule.warn, "refuse": .refuse]) ?? .warn
    guard item.expiry == .warn || item.kind.isGivenWhenExpired else {
      throw .unreadableLine("\"expiry\" is for passwords: an expired credential is refused always")
    }
    item.expires = try instant("expires")
    return item
  }

  /// The words of `access`, as `--access` takes them.
  private func access(_ accessible: Accessibility) throws(CommandError) -> AccessControl {
    let words =
      texts["access"]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    let known = Constraints.words.map(\.word)
    guard words.allSatisfy(known.contains) else {
      throw .unreadableLine("\"access\" is no comma list of \(known.joined(separator: ", "))")
    }
    let constraints = Constraints(words: words)
    guard !constraints.contains(.applicationPassword) else {
      throw .unreadableLine(
        "an application password is in no file: add the item with 'vaultctl add --access'")
    }
    do throws(VaultError) {
      return try AccessControl(
        constraints, accessibility: accessible, thisDeviceOnly: flags["thisDeviceOnly"] ?? false)
    } catch { throw .unreadableLine(error.message) }
  }

  private func choice<Value>(_ key: String, values: [String: Value]) throws(CommandError) -> Value? {
    guard let text = texts[key] else { return nil }
    guard let value = values[text] else {
      throw .unreadableLine("\"\(key)\" is none of \(values.keys.sorted().joined(separator: ", "))")
    }
    return value
  }
}

extension ItemLineReader.ContentFields {
  /// Whether there is more than a secret.
  var hasEntry: Bool { !seen.isDisjoint(with: ["notes", "urls", "fields"]) }

  /// The password; empty for an entry without one.
  func password() throws(CommandError) -> SharedSecret {
    if secret == nil, hasEntry { return SharedSecret(SecretBytes(copying: [UInt8]())) }
    guard let secret, !seen.isSuperset(of: ["secret", "secretBase64"]), !seen.contains("uri") else {
      throw .unreadableLine(
        "a password without \"fields\", \"notes\" or \"urls\" needs \"secret\" or \"secretBase64\"")
    }
    guard secret.byteCount > 0 else { throw .unreadableLine("the secret is empty") }
    return secret
  }

  func entry() throws(CommandError) -> EntryContent {
    var entry = EntryContent(password: secret?.copy())
    do throws(VaultError) {
      if let notes { try entry.setNotes(notes.copy()) }
      for address in addresses { try entry.addAddress(address.copy()) }
      for field in own {
        guard let name = field.name, let value = field.value else {
          throw VaultError(.malformed, "a field needs \"name\" and \"value\"")
        }
        guard (try? entry.field(name)) == nil else {
          throw VaultError(.malformed, "the field \"\(printable(name))\" is there twice")
        }
        try entry.setField(name, to: value.copy(), isHidden: field.isHidden ?? false)
      }
      _ = try entry.encoded()
    } catch { throw .unreadableLine(error.message) }
    return entry
  }

  func former() throws(CommandError) -> NewFormer {
    do throws(CommandError) {
      _ = try password()
      guard let until, ItemLimits.expiries.contains(Instant(seconds: until)) else {
        throw .unreadableLine("\"until\" is not a number of seconds since 1970, up to the year 9999")
      }
      return NewFormer(try entry(), until: Instant(seconds: until))
    } catch {
      throw CommandError(error.exit, "a former version: \(error.message)", hint: error.hint, code: error.code)
    }
  }
}
