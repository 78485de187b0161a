/// One entry of the audit log.
public struct AuditEntry: Sendable {
  private typealias Number = FieldNumber.Entry

  /// The number of the entry in the log, from 1.
  public let sequence: UInt64
  /// The wall clock.
  public let time: Instant
  /// Milliseconds since boot.
  public let bootMilliseconds: UInt64
  /// The user id of the process that wrote the entry.
  public let user: UInt32
  /// The id of that process.
  public let process: UInt32
  /// Its executable, truncated to 255 bytes.
  public let executable: String
  /// What was done.
  public let operation: AuditOperation
  /// The item, where there is one.
  public let item: ItemID?
  /// The item's kind.
  public let itemKind: ItemKind?
  /// How it ended.
  public let result: AuditResult
  /// A detail for people, such as the name of a deleted item.
  public let detail: String?
  /// How the prompt ended; nil for every operation but a prompt that was shown.
  public let outcome: PromptOutcome?
  /// The process that was served, as the writing process names it; nil if that process asked for itself.
  public let caller: Caller?

  package init(sequence: UInt64, record: Record) throws(VaultError) {
    let fields = FieldReader(record, or: VaultError(.damaged, "an audit entry is not readable"))
    self.sequence = sequence
    time = Instant(milliseconds: try fields.i64(Number.time))
    bootMilliseconds = try fields.u64(Number.bootTime)
    user = try fields.u32(Number.user)
    process = try fields.u32(Number.process)
    operation = AuditOperation(rawValue: try fields.u16(Number.operation))
    result = AuditResult(rawValue: try fields.u16(Number.result))
    executable = record[Number.executable].flatMap { String(attributeBytes: $0) } ?? ""
    item = record[Number.item].flatMap { ItemID($0) }
    itemKind = (try? record.u32(Number.itemKind)).map { ItemKind(rawValue: $0) }
    detail = record[Number.detail].flatMap { String(attributeBytes: $0) }
    outcome = (try? record.u8(Number.outcome)).map { PromptOutcome(rawValue: $0) }
    caller = Self.caller(in: record)
  }
  private static func caller(in record: Record) -> Caller? {
    guard let user = try? record.u32(Number.callerUser), let process = try? record.u32(Number.callerProcess)
    else { return nil }
    let executable = record[Number.callerExecutable].flatMap { String(attributeBytes: $0) }
    return Caller(user: user, process: process, executable: executable ?? "")
  }
}
