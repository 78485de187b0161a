public import VaultFormat
package import VaultStorage

/// A part of the vault that does not open, and so cannot be sealed for other keys.
public struct DamagedPart: Sendable, Equatable {
  /// What a rotation does about it.
  package enum Remedy: Sendable, Equatable {
    /// It is removed if the caller asks for that.
    case removal
    /// It is rebuilt: index rows of an item that opens are missing, or the vault's own state does not open.
    case repair
    /// It stays: a newer version of this program made it, and opens it.
    case newerVersion
    /// It stays: a PIN, and items that open are behind it. Without it they would never open again.
    case needed
  }

  /// The item; `nil` for an entry of the log and for the vault's own state.
  public let item: ItemID?
  /// The number of its row; `nil` as above.
  package let row: Int64?
  /// Its name, where it opens.
  public let name: String?
  /// The entry of the log.
  public let auditSequence: UInt64?
  /// What is wrong with it, one line.
  public private(set) var what: String
  package private(set) var remedy: Remedy
  /// Whether a rotation removed it.
  public package(set) var isRemoved = false

  /// The same part, a PIN that stays for these items.
  package func needed(by items: [String]) -> Self {
    var part = self
    part.remedy = .needed
    let more = items.count > 3 ? " and \(items.count - 3) more" : ""
    part.what += "; behind this PIN: " + items.prefix(3).joined(separator: ", ") + more
    return part
  }

  /// Whether a newer version of this program made it. It is not damaged, and nothing removes it.
  public var isOfNewerVersion: Bool { remedy == .newerVersion }

  /// The part and what is wrong, one line for a person. It has the item's name if that opens.
  public var words: String {
    if let auditSequence { return "audit entry \(auditSequence): \(what)" }
    guard let item, let row else { return what }
    guard item != .zero else { return "item in row \(row): \(what)" }
    let name = name.map { " (\($0))" } ?? ""
    return "item \(item.hexadecimal)\(name): \(what)"
  }

  package static func item(_ row: ItemRow, name: String?, error: VaultError) -> Self {
    Self(
      item: ItemID(row.id), row: row.row, name: name, auditSequence: nil, what: error.message,
      remedy: error.isNewerVersion ? .newerVersion : .removal)
  }

  package static func index(_ row: ItemRow, name: String?) -> Self {
    Self(
      item: ItemID(row.id), row: row.row, name: name, auditSequence: nil,
      what: "an index row of it is missing",
      remedy: .repair)
  }

  /// A row of which nothing can be read.
  package static func unreadableRow(_ what: String) -> Self {
    Self(item: nil, row: nil, name: nil, auditSequence: nil, what: what, remedy: .removal)
  }

  package static func state(_ error: VaultError) -> Self {
    Self(
      item: nil, row: nil, name: nil, auditSequence: nil, what: error.message,
      remedy: error.isNewerVersion ? .newerVersion : .repair)
  }

  package static func audit(_ sequence: UInt64, error: VaultError) -> Self {
    Self(
      item: nil, row: nil, name: nil, auditSequence: sequence,
      what: error.isNewerVersion ? error.message : "it does not open",
      remedy: error.isNewerVersion ? .newerVersion : .removal)
  }
}
