package import Foundation

/// Whether a process has ended. Its parent need not have waited for it: the first process of a machine, which adopts those
/// without a parent, waits for them every few seconds only.
package func hasEnded(_ pid: pid_t) -> Bool {
  guard let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
  // The state follows the name of the program, which may itself contain a parenthesis.
  return line.split(separator: ") ").last?.hasPrefix("Z") ?? true
}
