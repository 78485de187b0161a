package import Foundation

/// Whether a process has ended. Its parent need not have waited for it: the first process of a machine, which adopts those
/// without a parent, waits for them every few seconds only.
package func hasEnded(_ pid: pid_t) -> Bool {
  guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
  // The state follows the name of the program, which may itself contain a parenthesis.
  return line.split(separator: ") ").last?.hasPrefix("Z") ?? true
}

extension Duration {
  /// The longest that something takes which happens at once.
  package static let atOnce = milliseconds(200)
}

/// The first of eight measurements that is below ``Swift/Duration/atOnce``, or else the shortest: a busy machine delays one by
/// seconds, but not all of them.
package func shortest(_ measure: () throws -> Duration) rethrows -> Duration {
  var least = try measure()
  for _ in 1..<8 where least >= .atOnce { least = min(least, try measure()) }
  return least
}
