/// A former version of an entry: that it was, and until when. What it kept is read by ``Vault``, through the gate.
public struct FormerVersion: Sendable, Hashable {
  /// Its number. Numbers of one entry ascend, and none is used again.
  public let version: UInt64
  /// When another one took its place, by the clock of then.
  public let until: Instant

  package init(version: UInt64, until: Instant) { (self.version, self.until) = (version, until) }
}
