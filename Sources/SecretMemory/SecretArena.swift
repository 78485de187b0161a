/// The locked memory of this process that secrets of up to 64 KiB lie in.
public enum SecretArena {
  /// How the arena is protected and how much of it is in use; for diagnostics.
  public static var status: ArenaStatus {
    _ = SecretBytes(zeroes: 1)  // the first secret maps the first region
    return Arena.withCurrent { $0.status }
  }

  /// Lends the memory of every region, for tests that look for bytes left behind. No secret may be made or end
  /// its life inside `body`.
  package static func forEachRegion(_ body: (UnsafeRawBufferPointer) -> Void) {
    Arena.withCurrent { unsafe $0.forEachRegion(body) }
  }
}
