/// Which operations on an item are logged.
@nonexhaustive
public enum AuditPolicy: UInt8, Sendable {
  /// Every write, counter use, verification, denial, prompt and export; not a plain read.
  case changes = 0
  /// Plain reads too; each read then needs a durable write.
  case all = 1
}
