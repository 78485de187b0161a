import Glibc

/// Hangs or uses ever more memory, to show that the test detects it.
enum Misbehaving {
  static func run(_ how: String) {
    if how == "hang" {
      say("hanging")
      while true { sleep(1_000) }
    }
    // The test sets the limit after the start.
    waitForStart()
    // Reserves ten gigabytes of addresses without touching the pages, so a missing limit does no harm.
    for _ in 0..<10 {
      let pages = unsafe mmap(nil, 1 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      if unsafe pages == MAP_FAILED { exit(70) }
    }
    say("grown")
  }
}
