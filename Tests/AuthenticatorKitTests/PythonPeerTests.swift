import Foundation
import TestSupport
import Testing

/// The peer in Python, on which the tests of activation, synchronization and transactions rest.
@Suite("The peer in Python", .bounded)
struct PythonPeerTests {
  @Test("it answers as the guide of transports says, judges codes, and breaks the answers that it should")
  func peer() throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Peers/test_peer.py").path
    let result = try Program("/usr/bin/python3", ["-B", script]).run()
    expect(result.status, equals: 0, "\(result.text.suffix(4000))")
    #expect(result.text.contains(#/Ran [1-9][0-9]+ tests/#), "\(result.text.suffix(200))")
  }
}
