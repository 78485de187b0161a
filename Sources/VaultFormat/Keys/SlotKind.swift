/// What a slot holds.
package enum SlotKind: UInt8 {
  case root = 1
  case deviceRoot, classKey, factor, auditRoot
  /// The key of header field 16. It exists with a passcode only.
  case trust

  /// Private halves and audit roots outlive a generation: their inner layer must not need what a person types.
  package var bindsGenerationInside: Bool { self != .factor && self != .auditRoot }
}
