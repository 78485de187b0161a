/// How the arena keeps secrets from readers of this process's memory, swap space and core dumps.
public struct ArenaStatus: Sendable, Equatable {
  /// How memory is protected. With several regions, the weakest counts.
  @nonexhaustive
  public enum Protection: Sendable, Equatable {
    /// memfd_secret(2): locked, in no core dump, not even in the kernel's own mapping.
    case memfdSecret
    /// mlock(2): locked, in no core dump.
    case mlocked
    /// In no core dump, but the system refused to lock it and may swap it out; most often `ulimit -l`.
    case notLocked(errno: Int32)
  }

  /// How the weakest region is protected.
  public var protection: Protection
  /// Bytes of the slots that hold a secret now.
  public var bytesInUse: Int
  /// Bytes of all regions.
  public var bytesReserved: Int
}

extension ArenaStatus.Protection {
  static func weaker(_ a: Self, _ b: Self) -> Self {
    switch (a, b) {
    case (.notLocked, _): a
    case (_, .notLocked): b
    case (.mlocked, _): a
    default: b
    }
  }
}
