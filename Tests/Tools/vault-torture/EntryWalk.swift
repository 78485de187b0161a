import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

/// A random walk over entries in a vault. Prints the number of each step that is durable, so that a test can kill it after any of them;
/// another process says which step of the model the vault is at.
enum EntryWalk {
  /// Goes on from a step until the last, or until the test closes standard input.
  static func run(_ rig: Rig, seed: UInt64, from first: Int, through last: Int) {
    do throws(VaultError) {
      let core = try rig.open()
      var (model, dice) = at(first, seed: seed)
      for number in first..<last where !isStopAsked() {
        let step = model.next(&dice)
        try perform(step, in: core)
        model.apply(step)
        say("\(number + 1)")
      }
      say("done")
    } catch { fail("\(error)") }
  }

  /// Says at which step the vault is, from one that was acknowledged on.
  static func judge(_ rig: Rig, seed: UInt64, from first: Int) {
    do throws(VaultError) {
      let core = try rig.open()
      guard try core.verify().problems.isEmpty else { fail("verify: \(try core.verify().problems)") }
      let found = try words(of: core)
      var (model, dice) = at(first, seed: seed)
      for number in first..<first + 200 {
        if model.words == found { return say("at \(number)") }
        model.apply(model.next(&dice))
      }
      fail("no step from \(first) on left: \(found); step \(first) leaves: \(at(first, seed: seed).0.words)")
    } catch { fail("\(error)") }
  }

  private static func at(_ step: Int, seed: UInt64) -> (EntryModel, EntryModel.Dice) {
    var (model, dice) = (EntryModel(), EntryModel.Dice(seed: seed))
    for _ in 0..<step { model.apply(model.next(&dice)) }
    return (model, dice)
  }

  private static func perform(_ step: EntryModel.Step, in core: VaultCore) throws(VaultError) {
    func id(_ name: String) throws(VaultError) -> ItemID { try core.item(named: name).id }
    switch step {
    case .add(let name, let content):
      _ = try core.add(NewItem(.genericPassword, name: name), entry: content.entry())
    case .password(let name, let value?) where value.utf8.count % 2 == 0:
      try core.update(id(name), ItemChanges(), secret: SecretBytes(testing: value))
    case .password(let name, let value):
      try core.update(id(name)) { (entry) throws(VaultError) in
        if let value { entry.setPassword(SecretBytes(testing: value)) } else { entry.setPassword(nil) }
      }
    case .notes(let name, let value):
      try core.update(id(name)) { (entry) throws(VaultError) in
        if let value { try entry.setNotes(SecretBytes(testing: value)) } else { try entry.setNotes(nil) }
      }
    case .field(let name, let field, let value):
      try core.update(id(name)) { (entry) throws(VaultError) in
        if let value {
          try entry.setField(field, to: SecretBytes(testing: value))
        } else {
          try entry.removeField(field)
        }
      }
    case .rename(let name, let other):
      var changes = ItemChanges()
      changes.attributes[.name] = other
      try core.update(id(name), changes)
    default: try performWhole(step, in: core)
    }
  }

  /// Steps that concern an entry as a whole.
  private static func performWhole(_ step: EntryModel.Step, in core: VaultCore) throws(VaultError) {
    func id(_ name: String) throws(VaultError) -> ItemID { try core.item(named: name).id }
    switch step {
    case .discard(let name): try core.moveToTrash(id(name))
    case .putBack(let name, let other):
      let item = try core.trash().first { $0.name == name }
      guard let item else { fail("\(name) is not in the trash") }
      try core.restoreFromTrash(item.id, named: other)
    case .delete(let name): try core.delete(id(name))
    case .restore(let name, let index):
      let history = try core.history(of: id(name))
      try core.restore(id(name), version: history[index].version)
    case .forget(let name):
      var changes = ItemChanges()
      changes.forgetsFormer = true
      try core.update(id(name), changes)
    case .newRule(let name):
      var changes = ItemChanges()
      changes.audit = try core.item(named: name).audit == .all ? .changes : .all
      try core.update(id(name), changes)
    case .addCode(let name):
      let text = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
      guard let uri = try? OTPAuthURI(parsing: SecretBytes(testing: text)) else { fail("no URI") }
      _ = try core.addOTP(uri, named: name)
    case .code(let name): _ = try core.nextHOTPCode(of: core.describeOTP(named: name).item.id)
    case .newKeys: try core.rotateEpoch()
    case .empty: try core.emptyTrash()

    default: fail("no step of an entry as a whole")
    }
  }

  private static func words(of core: VaultCore) throws(VaultError) -> String {
    var model = EntryModel()
    for item in try core.items(matching: Query(.genericPassword)) {
      model.entries[item.name ?? ""] = try entry(item, in: core)
    }
    // Before anything comes back, the codes of these entries are all that there are.
    let codes = try core.items(matching: Query(.otp)).count
    guard codes == model.entries.values.count(where: { $0.counter != nil }) else { return "\(codes) codes" }
    // What is in the trash is looked at where it was put back; the vault is thrown away.
    let trash = try core.trash()
    for (number, item) in trash.enumerated() {
      let back = try core.restoreFromTrash(item.id, named: "back \(number)")
      model.trash[item.name ?? ""] = try entry(back, in: core)
    }
    return model.words
  }

  private static func entry(_ item: Item, in core: VaultCore) throws(VaultError) -> EntryModel.Entry {
    var entry = EntryModel.Entry(content: EntryModel.Content(try core.entry(of: item.id)))
    for version in try core.history(of: item.id) {
      entry.former.append(EntryModel.Content(try core.entry(of: item.id, version: version.version)))
    }
    if let code = try core.owned(by: item), !code.isInTrash {
      entry.counter = try core.state(of: code.id).counter
    }
    return entry
  }
}

extension EntryModel.Content {
  fileprivate func entry() throws(VaultError) -> EntryContent {
    var entry = EntryContent()
    if let password { entry.setPassword(SecretBytes(testing: password)) }
    if let notes { try entry.setNotes(SecretBytes(testing: notes)) }
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      try entry.setField(name, to: SecretBytes(testing: value))
    }
    return entry
  }

  fileprivate init(_ entry: EntryContent) {
    func text(_ secret: borrowing SecretBytes) -> String {
      String(decoding: secret.bytesForTesting, as: UTF8.self)
    }
    self.init()
    if let secret = entry.password { password = text(secret) }
    if let secret = entry.notes { notes = text(secret) }
    for field in entry.fields { fields[field.name] = text(field.value) }
  }
}
