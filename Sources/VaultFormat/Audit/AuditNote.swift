/// What is logged of one operation; clocks and caller are added when it is written.
package struct AuditNote: Sendable {
  package var operation: AuditOperation
  package var item: ItemID?
  package var kind: ItemKind?
  package var result = AuditResult.success
  package var detail: String?
  package var outcome: PromptOutcome?

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

  /// The encoded record of an entry made now.
  package func encoded(for caller: Caller, at clock: any VaultClock) -> [UInt8] {
    let detail = detail.map { Array($0.utf8.prefix(Caller.textByteCount)) }
    let boot = clock.bootID() ?? []
    // Twelve headers of six bytes, and the fields of a fixed length.
    let size = 72 + 49 + boot.count + caller.executableBytes.count + (detail?.count ?? 0)
    return Record.encoding(atMost: size) { fields in
      fields.put(1, clock.now().milliseconds)
      fields.put(2, clock.bootMilliseconds())
      if !boot.isEmpty { fields.put(3, boot) }
      fields.put(4, caller.user)
      fields.put(5, caller.process)
      fields.put(6, caller.executableBytes)
      fields.put(7, operation.rawValue)
      if let item { fields.put(8, item.high, item.low) }
      if let kind { fields.put(9, kind.rawValue) }
      fields.put(10, result.rawValue)
      if let detail { fields.put(11, detail) }
      if let outcome { fields.put(12, outcome.rawValue) }
    }
  }
}
