import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultWords

extension ItemLine {
  /// - Returns: The item, and what a person should know about it.
  func add(to transaction: inout WriteTransaction) throws -> (item: Item, warnings: [String]) {
    var warnings: [String] = []
    do {
      guard item.kind == .otp else {
        let content = entry ?? EntryContent(password: secret.copy())
        return (try transaction.add(item, entry: content, former: former), warnings)
      }
      if let suite { return (try add(suite, to: &transaction), warnings) }
      let uri = try self.uri()
      warnings += uri.warnings.map(\.words)
      let added = try transaction.addOTP(uri, named: name, role: role, window: window, adjusting: adjust)
      return (added, warnings)
    } catch let error as VaultError where error.code != .locked {
      throw CommandError(error).inLine(number)
    }
  }

  private func add(_ suite: OCRASuite, to transaction: inout WriteTransaction) throws(VaultError) -> Item {
    var new = NewOCRACredential(suite, name: name, role: role)
    (new.counter, new.window, new.allowsWeak) = (item.state.counter, window, allowsWeak)
    return try transaction.addOCRA(new, key: secret.copy(), adjusting: adjust)
  }

  /// What a line says besides the parameters of a credential.
  private func adjust(_ new: inout NewItem) {
    for (_, attribute) in Self.attributes {
      if let text = item.attributes[attribute] { new.attributes[attribute] = text }
    }
    if let tags = item.attributes[.tags] { new.attributes[.tags] = tags }
    (new.access, new.audit, new.expires) = (item.access, item.audit, item.expires)
    // That of a verifier may have been raised above the one in its URI.
    new.state.counter = max(new.state.counter, item.state.counter)
    new.state.lastAccepted = item.state.lastAccepted
    new.state.needsResync = item.state.needsResync
    new.state.isBlocked = item.state.isBlocked
    (new.owner, new.trashedUntil) = (item.owner, item.trashedUntil)
    // Not that of the entry with its name.
    if item.trashedUntil != nil || item.owner != nil { new.joinsEntry = false }
    if item.attributes[.name] == nil { new.attributes.record[Attribute<String>.name.code] = nil }
  }

  /// Refuses to replace an item by a line that cannot say what the item is.
  func refuseReplacing(_ old: Item) throws(CommandError) {
    guard old.kind == item.kind else {
      throw duplicate(
        "it would replace an item of kind \(old.kind.word)", advice: "try --on-duplicate skip or rename")
    }
    if old.isBehindPIN {
      throw guarded("a PIN guards the item with its name, and the line would replace it by one without a PIN")
    }
    if old.isOfServer {
      throw guarded(
        "a server has activated the credential with its name, and the line would replace it by one without a server"
      )
    }
  }

  /// A prover whose counter is behind that of the one with its name gives no code until its counter is set, because codes would
  /// be made twice. A verifier that would replace it accepted codes twice, and is refused.
  ///
  /// - Returns: A warning, where the counter is behind.
  mutating func keepBehind(
    counterOf old: Item, in transaction: inout WriteTransaction
  ) throws -> [String] {
    guard old.countsCodes, old.attributes[.otpRole] == role.rawValue, let counter = try counter() else {
      return []
    }
    let before = try transaction.state(of: old.id)
    let isKnownBehind =
      role == .prover && before.needsResync && !item.state.needsResync && counter == before.counter
    guard counter < before.counter || before.isBlocked && !item.state.isBlocked || isKnownBehind else {
      return []
    }
    guard role == .prover else {
      throw guarded("the counter of the verifier with its name is ahead: it would accept codes twice")
    }
    item.state.needsResync = true
    return [
      "the counter of the credential with its name is ahead: it gives no code before 'vaultctl otp counter NAME --set N', with "
        + "N from the server"
    ]
  }

  /// The counter of a credential that has one.
  private func counter() throws(CommandError) -> UInt64? {
    guard item.kind == .otp else { return nil }
    guard suite == nil else { return suite?.hasCounter == true ? item.state.counter : nil }
    return try hotpCounter()
  }

  /// What the item has and the line does not replace.
  func losses(replacing old: Item) -> [String] {
    guard old.isConstrained, item.access.constraints.isEmpty else { return [] }
    let rule = old.access.constraints.shown.joined(separator: ",")
    return ["'\(printable(name))' had the access rule \(rule), and the line that replaces it has none"]
  }

  private func guarded(_ why: String) -> CommandError {
    CommandError(
      .refused, why,
      hint: "nothing was imported; try --on-duplicate skip or rename, or delete the item first"
    ).inLine(number)
  }

  /// - Parameter advice: What helps; never the option that was given.
  func duplicate(_ why: String, advice: String) -> CommandError {
    CommandError(.alreadyExists, why, hint: "nothing was imported; " + advice).inLine(number)
  }
}
