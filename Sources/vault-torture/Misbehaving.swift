import Glibc

/// Hangs, or grows without end, to see that a test notices.
enum Misbehaving {
  static func run(_ how: String) {
    if how == "hang" {
      say("hanging")
      while true { sleep(1_000) }
    }
    // The limit comes a moment after the start.
    usleep(100_000)
    // Ten gigabytes of addresses; the pages are not touched, so a missing limit harms nobody.
    for _ in 0..<10 {
      let pages = unsafe mmap(nil, 1 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      if unsafe pages == MAP_FAILED { exit(70) }
    }
    say("grown")
  }
}
