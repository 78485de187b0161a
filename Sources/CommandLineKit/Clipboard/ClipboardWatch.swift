import CLinux
import Glibc

/// The process that outlives the command and clears the clipboard.
package enum ClipboardWatch {
  /// Begins to wait in a process of its own, which ends after `clear`.
  ///
  /// The child has neither the vault nor the secret: secret memory is not inherited, and every descriptor but `kept`
  /// is closed. It is in a session of its own, so it outlives the terminal; a request to end makes it clear at once.
  /// All this is so when `start` returns.
  ///
  /// - Parameter otherWait: Waits in place of the clock of this machine.
  package static func start(
    seconds: Int64, keeping kept: Int32, waiting otherWait: ((Int64) -> Void)? = nil,
    then clear: (Int32) -> Void
  ) throws(CommandError) {
    var ends = sigset_t()
    unsafe sigemptyset(&ends)
    for signal in [SIGTERM, SIGHUP, SIGINT] { unsafe sigaddset(&ends, signal) }
    let place = unsafe clinux_detach(kept, &ends)
    if place == -2 { return }
    guard place >= 0 else {
      throw .io(
        "starting the process that clears the clipboard", errno: errno,
        hint: "the clipboard holds the secret now: copy something else")
    }
    if let otherWait { otherWait(seconds) } else { wait(seconds: seconds, orFor: &ends) }
    clear(place)
    _exit(0)
  }

  /// Until a request to end, or the time on the clock that counts suspend, so that a sleeping laptop does not lengthen
  /// it.
  private static func wait(seconds: Int64, orFor ends: inout sigset_t) {
    let deadline = milliseconds + seconds * 1000
    while case let left = deadline - milliseconds, left > 0 {
      let pause = min(left, 1000)
      var time = timespec(tv_sec: Int(pause / 1000), tv_nsec: Int(pause % 1000) * 1_000_000)
      if unsafe sigtimedwait(&ends, nil, &time) > 0 { return }
    }
  }

  private static var milliseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
