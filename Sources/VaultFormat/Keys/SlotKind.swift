/// What a slot holds.
package enum SlotKind: UInt8 {
  case root = 1
  case deviceRoot, classKey, factor, auditRoot
  /// The key of header field 16, which exists only with a passcode.
  case trust

  /// Whether the inner layer is bound to the generation. Private halves and audit roots outlive a generation: a
  /// rotation must not need what a person types to open their inner layer.
  package var bindsGenerationInside: Bool { self != .factor && self != .auditRoot }
}
