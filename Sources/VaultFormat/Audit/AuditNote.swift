/// What the log records about one operation. The clocks and the process that writes are added when the note is written.
package struct AuditNote: Sendable {
  private typealias Number = FieldNumber.Entry

  package var operation: AuditOperation
  package var item: ItemID?
  package var kind: ItemKind?
  package var result = AuditResult.success
  package var detail: String?
  package var outcome: PromptOutcome?
  /// The process that is served; nil if the writing process asks for itself.
  package var caller: Caller?

  package init(
    operation: AuditOperation, item: ItemID? = nil, kind: ItemKind? = nil, result: AuditResult = .success,
    detail: String? = nil, outcome: PromptOutcome? = nil
  ) {
    self.operation = operation
    self.item = item
    self.kind = kind
    self.result = result
    self.detail = detail
    self.outcome = outcome
  }

  /// The encoded record of an entry that `writer` makes now.
  package func encoded(by writer: Caller, at clock: any VaultClock) -> [UInt8] {
    let detail = detail.map { Array($0.utf8.prefix(Caller.textByteCount)) }
    let boot = clock.bootID() ?? []
    // Fifteen headers of six bytes, and the fields of a fixed length.
    let size =
      90 + 57 + boot.count + writer.executableBytes.count + (detail?.count ?? 0)
      + (caller?.executableBytes.count ?? 0)
    return Record.encoding(atMost: size) { fields in
      fields.put(Number.time, clock.now().milliseconds)
      fields.put(Number.bootTime, clock.bootMilliseconds())
      if !boot.isEmpty { fields.put(Number.boot, boot) }
      fields.put(Number.user, writer.user)
      fields.put(Number.process, writer.process)
      fields.put(Number.executable, writer.executableBytes)
      fields.put(Number.operation, operation.rawValue)
      if let item { fields.put(Number.item, item.high, item.low) }
      if let kind { fields.put(Number.itemKind, kind.rawValue) }
      fields.put(Number.result, result.rawValue)
      if let detail { fields.put(Number.detail, detail) }
      if let outcome { fields.put(Number.outcome, outcome.rawValue) }
      guard let caller else { return }
      fields.put(Number.callerUser, caller.user)
      fields.put(Number.callerProcess, caller.process)
      if !caller.executableBytes.isEmpty {
        fields.put(Number.callerExecutable, caller.executableBytes)
      }
    }
  }
}
