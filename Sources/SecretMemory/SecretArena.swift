/// The locked memory of this process, which holds its secrets of up to 64 KiB.
public enum SecretArena {
  /// How the arena is protected and how much of it is in use; for diagnostics.
  public static var status: ArenaStatus {
    _ = SecretBytes(zeroes: 1)  // the first secret maps the first region
    return Arena.withCurrent { $0.status }
  }

  /// Lends the memory of every region, for tests that look for bytes that were not wiped. `body` must not make or
  /// end a secret.
  package static func forEachRegion(_ body: (UnsafeRawBufferPointer) -> Void) {
    Arena.withCurrent { unsafe $0.forEachRegion(body) }
  }
}
