import VaultKit

/// The clocks of one judgement.
struct Clocks {
  /// Seconds since 1970.
  let wall: Int64
  /// Seconds since boot: nobody can set it.
  let boot: Int64
  let bootID: [UInt8]

  init(_ clock: any VaultClock) {
    wall = clock.now().seconds
    boot = Int64(clamping: clock.bootMilliseconds() / 1000)
    bootID = clock.bootID() ?? [UInt8](repeating: 0, count: 16)
  }
}
