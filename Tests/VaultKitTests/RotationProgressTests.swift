import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The progress of a rotation", .bounded)
struct RotationProgressTests {
  private let place = TemporaryVault()

  /// Each rotation told of its own steps before: 72 %, then 54 %.
  @Test(
    "it never goes back, also when an interrupted rotation is completed first, and while items are added and deleted",
    arguments: [false, true], [0, 1, 2])
  func forward(isInterrupted: Bool, change: Int) throws {
    let core = try place.makeCore()
    try core.write { transaction in
      for number in 0..<5_000 { _ = try transaction.add(NewItem(.genericPassword, name: "n\(number)")) }
    }
    if isInterrupted {
      try core.beginRotation()
      try core.resumeRotation()
    }
    let other = try place.openCore()
    var told: [Double] = []
    try core.rotateEpoch(
      isAnew: true,
      progress: { step in
        told.append(Double(step.done) / Double(step.total))
        #expect(throws: Never.self) {
          switch change {
          case 1: _ = try other.add(NewItem(.genericPassword, name: "new \(told.count)"))
          case 2: try other.delete(Query(name: "n\(told.count)"))
          default: break
          }
        }
      })
    #expect(told.count > 5 && told == told.sorted(), "\(told)")
    #expect(change != 0 || told.last == 1)
    try expect(core.status().generation, equals: isInterrupted ? 3 : 2)
    try expect(core.verify().problems, equals: [])
  }
}
