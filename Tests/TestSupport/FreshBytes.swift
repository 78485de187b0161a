/// A secret that a test looks for afterwards, in memory or in files: nothing else has it, and no binary holds it.
package func freshBytes(_ count: Int) -> [UInt8] {
  (0..<count).map { _ in UInt8.random(in: .min ... .max) }
}
