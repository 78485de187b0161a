public import SecretMemory
import TextPreparation

/// What an entry keeps under its seal: a password, notes, fields of one's own and addresses (docs/format/vault-file.md, section 6).
///
/// An item of ``ItemKind/genericPassword`` or ``ItemKind/internetPassword`` is an entry as soon as it has more than a password. What
/// can be found while the vault is locked is in its attributes: the name, account, service, label, tags, and the host of the first
/// address.
///
/// Each value is in secret memory; the names of fields are not.
public struct EntryContent: Sendable {
  /// One field.
  public struct Field: Sendable {
    /// Its name, 1 to 255 bytes, in form C of Unicode; each name once in an entry.
    public let name: String
    /// Whether its value is shown only where somebody asks for it. **Advisory**: notes and all fields are under one seal.
    public let isHidden: Bool
    package let shared: SharedSecret
    /// What a later version keeps with it.
    fileprivate let later: SharedSecret?

    /// A copy of its value: text in UTF-8, at most 64 KiB.
    public var value: SecretBytes { shared.bytes.copy() }
  }

  package private(set) var sharedPassword: SharedSecret?
  package private(set) var sharedNotes: SharedSecret?
  package private(set) var sharedAddresses: [SharedSecret] = []
  /// The fields, in the order in which they were added.
  public private(set) var fields: [Field] = []
  /// What a later version keeps here, as encoded fields.
  private var later: SharedSecret?

  /// The content of an item that has nothing but a password, or nothing.
  public init(password: consuming SecretBytes? = nil) { setPassword(password) }

  // MARK: Reading

  /// A copy of the password; `nil` for an entry without one.
  public var password: SecretBytes? { sharedPassword?.bytes.copy() }
  /// A copy of the notes: text in UTF-8 of any number of lines.
  public var notes: SecretBytes? { sharedNotes?.bytes.copy() }
  /// How many addresses there are.
  public var addressCount: Int { sharedAddresses.count }
  /// A copy of an address: text in UTF-8.
  public func address(_ index: Int) -> SecretBytes { sharedAddresses[index].bytes.copy() }

  /// The field with this name, in any form of Unicode.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  public func field(_ name: String) throws(VaultError) -> Field {
    let normal = try Self.normalized(name)
    guard let field = fields.first(where: { $0.name == normal }) else {
      throw VaultError(
        .itemNotFound, "the entry has no field \"\(VisibleText.escaped(name))\"", hint: .showFields)
    }
    return field
  }

  /// Whether there is nothing but a password: such an item needs no record.
  package var isPlain: Bool {
    sharedPassword != nil && sharedNotes == nil && fields.isEmpty && sharedAddresses.isEmpty && later == nil
  }

  /// The names of what is different in another one: `password`, `notes`, `addresses`, and the names of fields in quotation marks.
  public func differences(from other: EntryContent) -> [String] {
    func isSame(_ one: SharedSecret?, _ two: SharedSecret?) -> Bool {
      guard let one, let two else { return one == nil && two == nil }
      return one.bytes.isEqualInConstantTime(to: two.bytes)
    }
    var names: [String] = []
    if !isSame(sharedPassword, other.sharedPassword) { names.append("password") }
    if !isSame(sharedNotes, other.sharedNotes) { names.append("notes") }
    let addresses = zip(sharedAddresses, other.sharedAddresses)
    if sharedAddresses.count != other.sharedAddresses.count || !addresses.allSatisfy(isSame) {
      names.append("addresses")
    }
    for field in fields {
      let twin = other.fields.first { $0.name == field.name }
      if twin?.isHidden != field.isHidden || !isSame(field.shared, twin?.shared) {
        names.append("\"\(field.name)\"")
      }
    }
    for field in other.fields where !fields.contains(where: { $0.name == field.name }) {
      names.append("\"\(field.name)\"")
    }
    return names
  }

  // MARK: Changing

  /// Replaces the password, and nothing else; `nil` removes it.
  public mutating func setPassword(_ password: consuming SecretBytes?) {
    if let password { sharedPassword = SharedSecret(password) } else { sharedPassword = nil }
  }

  /// Replaces the notes; `nil` and an empty text remove them.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for what is not UTF-8.
  public mutating func setNotes(_ notes: consuming SecretBytes?) throws(VaultError) {
    guard let notes, notes.byteCount > 0 else { return sharedNotes = nil }
    try EntryLimits.check(text: notes, of: "the content of the notes", atMost: EntryLimits.contentByteCount)
    sharedNotes = SharedSecret(notes)
  }

  /// Adds a field, or replaces the value of the field with this name.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - value: Its value.
  ///   - isHidden: `nil` leaves a field as it is, and hides a new one.
  /// - Throws: ``VaultError/Code/malformed`` for a name or a value that cannot be.
  public mutating func setField(
    _ name: String, to value: consuming SecretBytes, isHidden: Bool? = nil
  ) throws(VaultError) {
    let normal = try Self.normalized(name)
    try EntryLimits.check(fieldName: normal)
    try EntryLimits.check(
      text: value, of: "the field \"\(VisibleText.escaped(normal))\"", atMost: EntryLimits.valueByteCount)
    let index = fields.firstIndex { $0.name == normal }
    let old = index.map { fields[$0] }
    let field = Field(
      name: normal, isHidden: isHidden ?? old?.isHidden ?? true, shared: SharedSecret(value),
      later: old?.later)
    if let index {
      fields[index] = field
    } else {
      guard fields.count < EntryLimits.fieldCount else { throw EntryLimits.tooManyFields }
      fields.append(field)
    }
  }

  /// Removes a field.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  public mutating func removeField(_ name: String) throws(VaultError) {
    let found = try field(name).name
    fields.removeAll { $0.name == found }
  }

  /// Removes all addresses.
  public mutating func removeAddresses() { sharedAddresses = [] }

  /// Adds an address after those that are there.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for one that is empty, too long, not UTF-8 or of more than one line.
  public mutating func addAddress(_ address: consuming SecretBytes) throws(VaultError) {
    try EntryLimits.check(text: address, of: "an address", atMost: EntryLimits.addressByteCount)
    guard address.byteCount > 0, !address.hasControlCharacter else {
      throw VaultError(
        .malformed, "an address is text on one line", hint: "give it like https://shop.example")
    }
    guard sharedAddresses.count < EntryLimits.addressCount else {
      throw VaultError(.malformed, "an entry has at most \(EntryLimits.addressCount) addresses")
    }
    sharedAddresses.append(SharedSecret(address))
  }

  private static func normalized(_ name: String) throws(VaultError) -> String {
    do throws(TextPreparationError) { return try TextPreparation.normalized(name) } catch {
      throw VaultError(error, in: "the name of the field")
    }
  }
}

// MARK: - The record

extension EntryContent {
  private typealias Number = FieldNumber.EntryContent

  /// The record that is sealed.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for more than 256 KiB.
  package func encoded() throws(VaultError) -> SecretBytes {
    let fieldCount = listByteCount(fields.map(\.byteCount))
    let addressesCount = listByteCount(sharedAddresses.map(\.byteCount))
    var count = later?.byteCount ?? 0
    for part in [sharedPassword?.byteCount, sharedNotes?.byteCount] {
      count += part.map { $0 + overhead } ?? 0
    }
    if !fields.isEmpty { count += overhead + fieldCount }
    if !sharedAddresses.isEmpty { count += overhead + addressesCount }
    guard count <= EntryLimits.contentByteCount else { throw EntryLimits.tooLong }
    return SecretBytes(capacity: count) { output in
      if let sharedPassword { output.put(Number.password, sharedPassword) }
      if let sharedNotes { output.put(Number.notes, sharedNotes) }
      if !fields.isEmpty {
        output.begin(Number.fields, fieldCount)
        for (index, field) in fields.enumerated() {
          output.begin(UInt16(index + 1), field.byteCount)
          field.write(to: &output)
        }
      }
      if !sharedAddresses.isEmpty {
        output.begin(Number.addresses, addressesCount)
        for (index, address) in sharedAddresses.enumerated() { output.put(UInt16(index + 1), address) }
      }
      if let later { later.expose { output.append(copying: $0) } }
    }
  }

  private func listByteCount(_ counts: [Int]) -> Int { counts.reduce(0) { $0 + $1 + overhead } }
  private var overhead: Int { Record.overhead }

  /// The content of an item.
  ///
  /// - Parameters:
  ///   - secret: Its secret.
  ///   - isEntry: Whether the secret is the record of an entry; otherwise it is a password.
  /// - Throws: ``VaultError/Code/damaged``.
  package init(_ secret: consuming SecretBytes, isEntry: Bool) throws(VaultError) {
    self = isEntry ? try EntryContent(decoding: secret) : EntryContent(password: secret)
  }

  /// - Throws: ``VaultError/Code/damaged``.
  package init(decoding bytes: borrowing SecretBytes) throws(VaultError) {
    do throws(RecordError) {
      self = try bytes.expose { (bytes) throws(RecordError) in try EntryContent(record: bytes) }
    } catch {
      throw VaultError(
        .damaged, "the content of the entry is not readable", hint: "restore the vault from a backup")
    }
  }

  private init(record bytes: RawSpan) throws(RecordError) {
    self.init()
    var cursor = FieldCursor()
    while let (number, place) = try cursor.next(in: bytes) {
      let value = bytes.extracting(place)
      switch number {
      case Number.password: sharedPassword = SharedSecret(SecretBytes(copying: value))
      case Number.notes: sharedNotes = SharedSecret(SecretBytes(copying: value))
      case Number.fields:
        try Self.forEach(in: value) { (field) throws(RecordError) in fields.append(try Field(record: field)) }
      case Number.addresses:
        try Self.forEach(in: value) { sharedAddresses.append(SharedSecret(SecretBytes(copying: $0))) }
      default:
        let rest = bytes.extracting(place.lowerBound - Record.overhead..<bytes.byteCount)
        later = SharedSecret(SecretBytes(copying: rest))
        while try cursor.next(in: bytes) != nil {}
      }
    }
    guard Set(fields.map(\.name)).count == fields.count else { throw .malformed(Number.fields) }
  }

  /// Lends the values of a list, which have the numbers 1, 2, 3 …
  private static func forEach(
    in list: RawSpan, _ body: (RawSpan) throws(RecordError) -> Void
  ) throws(RecordError) {
    var cursor = FieldCursor()
    var expected: UInt16 = 1
    while let (number, place) = try cursor.next(in: list) {
      guard number == expected, number < .max else { throw .malformed(number) }
      try body(list.extracting(place))
      expected += 1
    }
  }
}

extension EntryContent.Field {
  private typealias Number = FieldNumber.EntryField

  fileprivate var byteCount: Int {
    2 * Record.overhead + name.utf8.count + shared.byteCount + (isHidden ? Record.overhead + 1 : 0)
      + (later?.byteCount ?? 0)
  }

  fileprivate func write(to output: inout OutputRawSpan) {
    output.begin(Number.name, name.utf8.count)
    for byte in name.utf8 { output.append(byte) }
    output.put(Number.value, shared)
    if isHidden {
      output.begin(Number.hidden, 1)
      output.append(1 as UInt8)
    }
    if let later { later.expose { output.append(copying: $0) } }
  }

  fileprivate init(record bytes: RawSpan) throws(RecordError) {
    var cursor = FieldCursor()
    var (name, value): (String?, SharedSecret?)
    var (isHidden, later): (Bool, SharedSecret?) = (false, nil)
    while let (number, place) = try cursor.next(in: bytes) {
      let field = bytes.extracting(place)
      switch number {
      case Number.name: name = String(validating: field.array, as: UTF8.self)
      case Number.value: value = SharedSecret(SecretBytes(copying: field))
      case Number.hidden:
        guard field.byteCount == 1, field.byte(at: 0) == 1 else { throw .malformed(number) }
        isHidden = true
      default:
        let rest = bytes.extracting(place.lowerBound - Record.overhead..<bytes.byteCount)
        later = SharedSecret(SecretBytes(copying: rest))
        while try cursor.next(in: bytes) != nil {}
      }
    }
    guard let name, !name.isEmpty else { throw .missing(Number.name) }
    guard let value else { throw .missing(Number.value) }
    self.init(name: name, isHidden: isHidden, shared: value, later: later)
  }
}

extension OutputRawSpan {
  fileprivate mutating func begin(_ number: UInt16, _ byteCount: Int) {
    for shift in [8, 0] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: byteCount >> shift)) }
  }

  fileprivate mutating func put(_ number: UInt16, _ value: SharedSecret) {
    begin(number, value.byteCount)
    value.expose { append(copying: $0) }
  }
}

// MARK: What is readable while the vault is locked

extension EntryContent {
  /// The host of the first address in small letters, for the attribute ``Attribute/server``; `nil` where there is none.
  ///
  /// Of `https://anna@Shop.example:443/login` it is `shop.example`.
  package var host: String? {
    sharedAddresses.first?.expose { bytes in
      guard var text = String(validating: bytes.array, as: UTF8.self)?[...] else { return nil }
      let scheme = text.prefix { $0 != ":" }
      if text[scheme.endIndex...].hasPrefix("://") { text = text[scheme.endIndex...].dropFirst(3) }
      text = text.prefix { !"/?#".contains($0) }
      if let user = text.lastIndex(of: "@") { text = text[text.index(after: user)...] }
      if text.first == "[" {
        text = text.prefix { $0 != "]" }.dropFirst()
      } else {
        text = text.prefix { $0 != ":" }
      }
      return text.isEmpty ? nil : text.lowercased()
    }
  }
}
