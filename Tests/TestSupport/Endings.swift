package import Foundation

/// Whether a process runs no more.
///
/// It has also ended if its parent has not waited for it yet: the first process of a machine, which adopts those without
/// a parent, may wait for seconds.
package func hasEnded(_ pid: pid_t) -> Bool {
  guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
  // The state follows the name of the program, which may itself contain a parenthesis.
  return line.split(separator: ") ").last?.hasPrefix("Z") ?? true
}

/// The shortest of eight measurements, or the first that is below `limit`.
///
/// For what has to happen at once: a busy machine delays one measurement by seconds, but not all of them.
package func shortest(below limit: Duration, _ measure: () throws -> Duration) rethrows -> Duration {
  var least = try measure()
  for _ in 1..<8 where least >= limit { least = min(least, try measure()) }
  return least
}
