import CommandLineKit
import Glibc
import SecretMemory
import TextPreparation
import VaultKit
import VaultWords

/// What the options of `add` and `edit` say about the sealed part of an entry.
///
/// All of it is read and judged before anybody is asked for a passcode.
struct EntryEdits: Sendable {
  /// A field that an option gives.
  struct NewField: Sendable {
    let name: String
    let value: SharedSecret
    /// Whether the value came by an argument.
    let isShown: Bool
  }

  private(set) var fields: [NewField] = []
  private(set) var notes: SharedSecret?
  private(set) var addresses: [SharedSecret] = []
  /// What is removed, before anything is set.
  private(set) var removals: [EntryPart] = []

  /// Whether nothing is said.
  var isEmpty: Bool { fields.isEmpty && notes == nil && addresses.isEmpty && removals.isEmpty }

  /// - Parameters:
  ///   - shown: Fields that `--set` gives, besides those of `--field`.
  ///   - urls: Addresses that `--set` gives, besides those of `--url`.
  ///   - removals: What `--unset` names.
  ///   - readsInput: Whether standard input is read for something else.
  init(
    _ command: Command, shown: [Assignment] = [], urls: [String] = [], removing removals: [EntryPart] = [],
    readsInput: Bool
  ) throws {
    self.removals = removals
    try Self.refuseSharedDescriptors(command, readsInput: readsInput)
    for (index, text) in command[EntryOptions.field].enumerated() {
      let place = EntryOptions.field.place(index)
      try add(shown: try Assignment(text, named: place, like: "--field customer=4711"))
    }
    for assignment in shown { try add(shown: assignment) }
    for (index, url) in (command[EntryOptions.url] + urls).enumerated() {
      let secret = SharedSecret(SecretBytes(copying: Array(url.utf8)))
      try Self.naming(EntryOptions.url.place(index)) { () throws(VaultError) in
        var content = EntryContent()
        try content.addAddress(secret.copy())
      }
      addresses.append(secret)
    }
    try readNotes(command)
    for (index, text) in command[EntryOptions.fieldDescriptor].enumerated() {
      let place = EntryOptions.fieldDescriptor.place(index)
      let (name, number) = try Self.fieldAndDescriptor(text, named: place)
      try add(hidden: name, from: .descriptor(number), of: command, named: place)
    }
    for (index, text) in command[EntryOptions.fieldFile].enumerated() {
      let place = EntryOptions.fieldFile.place(index)
      let given = try Assignment(text, named: place, like: "--field-file PIN=~/pin")
      let file = HostFile.data(given.value, named: place)
      try add(hidden: given.key, from: file, of: command, named: place)
    }
    // The limits that hold for all of it together.
    do throws(VaultError) {
      var content = EntryContent()
      try apply(to: &content, isTrial: true)
      _ = try content.encoded()
    } catch { throw CommandError(error) }
  }

  /// Changes an entry.
  ///
  /// - Parameter isTrial: Whether the content is none that is there: nothing in it can be missing.
  /// - Throws: ``VaultError/Code/policy`` for a shown value in the place of a hidden one, ``VaultError/Code/itemNotFound`` for a field that
  ///   is to be removed and is not there.
  func apply(to content: inout EntryContent, isTrial: Bool = false) throws(VaultError) {
    for part in removals where !isTrial { try Self.remove(part, from: &content) }
    if !addresses.isEmpty { content.removeAddresses() }
    for address in addresses { try content.addAddress(address.copy()) }
    if let notes { try content.setNotes(notes.copy()) }
    for field in fields {
      if field.isShown, let old = try? content.field(field.name), old.isHidden {
        throw VaultError(
          .policy, "the field \"\(printable(field.name))\" is hidden: its value never comes by an argument",
          hint: "give it by --field-fd, or change the entry with --editor")
      }
      try content.setField(field.name, to: field.value.copy(), isHidden: !field.isShown)
    }
  }

  /// Adds an address that a person typed.
  mutating func add(typedAddress text: String) throws(CommandError) {
    let secret = SharedSecret(SecretBytes(copying: Array(text.utf8)))
    try Self.naming("the address") { () throws(VaultError) in
      var content = EntryContent()
      try content.addAddress(secret.copy())
    }
    addresses.append(secret)
  }

  private static func remove(_ part: EntryPart, from content: inout EntryContent) throws(VaultError) {
    switch part {
    case .password: content.setPassword(nil)
    case .notes: try content.setNotes(nil)
    case .address, .addresses: content.removeAddresses()
    case .field(let name): try content.removeField(name)
    case .open, .code, .synonym: break
    }
  }
}

// MARK: Reading

extension EntryEdits {
  private mutating func add(shown given: Assignment) throws(CommandError) {
    try add(
      NewField(
        name: given.key, value: SharedSecret(SecretBytes(copying: Array(given.value.utf8))), isShown: true),
      named: given.place)
  }

  private mutating func add(
    hidden name: String, from file: HostFile, of command: Command, named place: String
  ) throws(CommandError) {
    // Its name is judged before anything is read.
    try check(name, named: place)
    let bytes = try command.data(
      of: file, limit: EntryLimits.valueByteCount + 1, named: "value of \"\(printable(name))\"",
      exposed: "\(place), \(printable(name))")
    let value = bytes.isLineWithNewline ? bytes.withoutLastByte : bytes.copy()
    try add(NewField(name: name, value: SharedSecret(value), isShown: false), named: place)
  }

  private mutating func add(_ field: NewField, named place: String) throws(CommandError) {
    try check(field.name, named: place)
    try Self.naming(place) { () throws(VaultError) in
      var content = EntryContent()
      try content.setField(field.name, to: field.value.copy())
    }
    fields.append(field)
  }

  /// - Throws: Exit 12 for a name that cannot be, 2 for one that is given twice.
  private func check(_ name: String, named place: String) throws(CommandError) {
    try Self.naming(place) { () throws(VaultError) in try EntryLimits.check(fieldName: name) }
    guard !fields.contains(where: { Self.isSame($0.name, name) }) else {
      throw .usage("\(place): the field \"\(printable(name))\" is given twice")
    }
  }

  /// Swift compares texts in all their forms.
  private static func isSame(_ one: String, _ other: String) -> Bool { one == other }

  private mutating func readNotes(_ command: Command) throws(CommandError) {
    let file: HostFile
    let place: String
    if let number = command[EntryOptions.notesDescriptor] {
      guard !command.has(EntryOptions.notesFile) else {
        throw .usage("--notes-fd and --notes-file are given, one of them is enough")
      }
      (file, place) = (.descriptor(number), EntryOptions.notesDescriptor.shown)
    } else if let path = command[EntryOptions.notesFile] {
      place = EntryOptions.notesFile.shown
      file = .data(path, named: place)
    } else {
      return
    }
    let bytes = SharedSecret(
      try command.data(
        of: file, limit: EntryLimits.contentByteCount, named: "text of \(place)", exposed: place))
    guard bytes.byteCount > 0 else {
      throw .malformed(
        "\(place) has nothing in it", hint: "to remove notes, use 'edit NAME --unset notes'")
    }
    try Self.naming(place) { () throws(VaultError) in
      var content = EntryContent()
      try content.setNotes(bytes.copy())
    }
    notes = bytes
  }

  /// Runs `body`, whose error then says which option it is about.
  private static func naming(_ place: String, _ body: () throws(VaultError) -> Void) throws(CommandError) {
    do throws(VaultError) { try body() } catch {
      let told = CommandError(error)
      throw CommandError(told.exit, "\(place): \(told.message)", hint: told.hint, code: told.code)
    }
  }

  /// `NAME=N`. A name has no =.
  private static func fieldAndDescriptor(
    _ text: String, named place: String
  ) throws(CommandError) -> (name: String, number: Int32) {
    let given = try Assignment(text, named: place, like: "--field-fd PIN=3 3< FILE")
    guard given.value.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int32(given.value) else {
      throw .usage(
        "\(place) takes the number of an open descriptor after the =", hint: "write --field-fd PIN=3 3< FILE")
    }
    return (given.key, number)
  }

  /// A descriptor brings one text.
  private static func refuseSharedDescriptors(_ command: Command, readsInput: Bool) throws(CommandError) {
    var taken: [(number: Int32, place: String)] = []
    for secret in command.verb.secretOptions + [CommonOptions.deviceKeys] {
      if let number = command[secret.descriptor] { taken.append((number, secret.descriptor.shown)) }
    }
    if let number = command[EntryOptions.notesDescriptor] {
      try take(number, for: EntryOptions.notesDescriptor.shown, &taken)
    }
    for (index, text) in command[EntryOptions.fieldDescriptor].enumerated() {
      let place = EntryOptions.fieldDescriptor.place(index)
      try take(try fieldAndDescriptor(text, named: place).number, for: place, &taken)
    }
    let isInput = readsInput || command.world.batchInput != nil
    if isInput, let input = taken.first(where: { $0.number == 0 }) {
      throw .usage(
        "\(input.place): descriptor 0 is standard input, which this command reads",
        hint: "use another one: 3 3< FILE")
    }
  }

  private static func take(
    _ number: Int32, for place: String, _ taken: inout [(number: Int32, place: String)]
  ) throws(CommandError) {
    if let other = taken.first(where: { $0.number == number }) {
      throw .usage("\(other.place) and \(place) name the same descriptor, \(number)")
    }
    taken.append((number, place))
  }
}

/// `KEY=VALUE` of an option.
struct Assignment: Sendable {
  let key: String
  let value: String
  /// What an error calls the option.
  let place: String

  /// - Parameter example: How it is written.
  init(_ text: String, named place: String, like example: String) throws(CommandError) {
    guard let equals = text.firstIndex(of: "=") else {
      throw .usage("\(place) has no =", hint: "write \(example)")
    }
    self.init(String(text[..<equals]), String(text[text.index(after: equals)...]), place)
  }

  init(_ key: String, _ value: String, _ place: String) {
    (self.key, self.value, self.place) = (key, value, place)
  }
}

extension OptionKey {
  /// What an error calls one of several values: they are not repeated, because one may be a secret in the wrong place.
  func place(_ index: Int) -> String { "\(shown) number \(index + 1)" }
}

extension HostFile {
  /// A path that an option names, which may be a descriptor.
  static func data(_ path: String, named place: String) -> HostFile {
    SecretInput.descriptor(named: path).map { .descriptor($0) } ?? .data(path: path, option: place)
  }
}

extension Command {
  /// What a file or a descriptor holds that an option names.
  ///
  /// - Parameters:
  ///   - name: What an error calls it.
  ///   - exposed: What a warning calls a file that every user can read.
  fileprivate func data(
    of file: HostFile, limit: Int, named name: String, exposed: String
  ) throws(CommandError) -> SecretBytes {
    try world.host.lend(file) { descriptor throws(CommandError) in
      if case .data(let path, _) = file, SecretInput.isReadableByOthers(descriptor) {
        vault.given.addExposed("the file of \(exposed), \(printable(path))")
      }
      return try SecretReading.all(of: descriptor, limit: limit, named: name)
    }
  }
}

extension SecretBytes {
  /// Whether a newline is at the end and nowhere else. A key or another text of several lines ends in one on purpose.
  var isLineWithNewline: Bool {
    let newline = UInt8(ascii: "\n")
    return exposeElements { bytes in
      guard bytes.count > 1 else { return false }
      for index in bytes.indices where (bytes[index] == newline) != (index == bytes.count - 1) {
        return false
      }
      return true
    }
  }

  fileprivate var withoutLastByte: SecretBytes {
    expose { SecretBytes(copying: $0.extracting(0..<$0.byteCount - 1)) }
  }
}
