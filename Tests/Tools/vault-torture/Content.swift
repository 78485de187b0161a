import Glibc
import SecretMemory
import VaultKit

/// The whole content of a vault as text, so that two states can be compared.
struct Content: Equatable {
  /// Passcode, failures, counts.
  var status: String
  /// Items in the order of insertion.
  var items: [Entry]

  struct Entry: Equatable {
    let id: String
    /// Kind, attributes, policy, expiry, state.
    let open: String
    /// The secret in hexadecimal after `=`; `!` and the error; or `-` without a secret.
    let secret: String
  }

  init(status: String, items: [Entry]) {
    self.status = status
    self.items = items
  }

  init(of core: VaultCore) throws(VaultError) {
    status = try Self.status(core)
    items = []
    for item in try core.items(matching: Query()) { items.append(try Self.entry(of: item, in: core)) }
  }

  static func status(_ core: VaultCore) throws(VaultError) -> String {
    let status = try core.status()
    return "\(status.hasPasscode) \(status.hasRecoveryCode) \(status.passcodeFailures) \(status.itemCount) "
      + "\(status.config) \(status.generation) \(status.created.milliseconds)"
  }

  static func entry(of item: Item, in core: VaultCore) throws(VaultError) -> Entry {
    let open = [
      "\(item.kind.rawValue)", attributes(item), "\(item.access.accessibility.rawValue)",
      "\(item.access.thisDeviceOnly)", "\(item.access.word)", "\(item.audit.rawValue)",
      "\(item.expires?.milliseconds ?? -1)", "\(item.hasSecret)", "\(item.version)",
      try state(of: item, in: core),
    ].joined(separator: "|")
    return Entry(id: item.id.hexadecimal, open: open, secret: secret(of: item, in: core))
  }

  private static func secret(of item: Item, in core: VaultCore) -> String {
    guard item.hasSecret else { return "-" }
    do throws(VaultError) {
      return try core.secret(of: item.id, by: Component(item.kind)).expose { span in
        "="
          + hexadecimal(
            (0..<span.byteCount).map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) })
      }
    } catch { return "!" + error.word }
  }

  private static func state(of item: Item, in core: VaultCore) throws(VaultError) -> String {
    try core.reading { transaction throws(VaultError) in
      do throws(VaultError) {
        let state = try transaction.state(of: item.id)
        return "\(state.counter),\(state.lastAccepted.map(String.init) ?? "-"),\(state.needsResync),"
          + "\(state.isBlocked),\(state.failures),\(state.lastUse.milliseconds),\(state.uses),\(state.clockOffset)"
      } catch  where error.code == .itemNotFound && !item.kind.hasState { return "none" }
    }
  }

  private static func attributes(_ item: Item) -> String {
    item.attributes.codes.map { code in "\(code):" + (value(of: code, item.attributes) ?? "?") }
      .joined(separator: ",")
  }

  private static func value(of code: UInt16, _ attributes: Attributes) -> String? {
    if let text = attributes[Attribute<String>(code: code)] { return "s" + hexadecimal(text.utf8) }
    if let bytes = attributes[Attribute<[UInt8]>(code: code)] { return "b" + hexadecimal(bytes) }
    if let number = attributes[Attribute<Int64>(code: code)] { return "i\(number)" }
    if let flag = attributes[Attribute<Bool>(code: code)] { return "t\(flag)" }
    return attributes[Attribute<Instant>(code: code)].map { "d\($0.milliseconds)" }
  }
}

/// Prints the state of a vault after each commit, and reads the printed states, for the process that judges mutants.
extension Content {
  func say(to file: Int32) {
    var text = "state \(status)\n"
    for item in items { text += "item \(item.id) \(item.open) \(item.secret)\n" }
    let bytes = Array(text.utf8)
    guard unsafe bytes.withUnsafeBytes({ unsafe write(file, $0.baseAddress, $0.count) }) == bytes.count else {
      fail("the states cannot be written")
    }
  }

  static func all(in text: String) -> [Content] {
    var states: [Content] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("state ") {
        states.append(Content(status: String(line.dropFirst(6)), items: []))
      } else {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        states[states.count - 1].items.append(Entry(id: words[1], open: words[2], secret: words[3]))
      }
    }
    return states
  }
}
