import AuthenticatorKit
import Foundation
import Synchronization
import TransportPrograms
import VaultKit

/// How requests ended, each on a thread of its own.
final class Results: Sendable {
  private let all = Mutex<[String: String]>([:])

  subscript(name: String) -> String? { all.withLock { $0[name] } }

  /// Sends a request whose `peer` is the name. Its result is a `state`, or the code of an error.
  func start(_ name: String, _ ending: PromptEnding?, _ transport: TransportProgram) {
    Thread.detachNewThread { [self] in
      var request = TransportRequest(.login, id: PeerProgram.id, fields: ["peer": .text(name)])
      request.ending = ending
      let result: String
      do throws(VaultError) {
        result = try transport.send(request).fields.word("state") ?? "nothing"
      } catch { result = error.code.rawValue }
      all.withLock { $0[name] = result }
    }
  }

  /// Waits for a result.
  func await(_ name: String) -> String? {
    let limit = ContinuousClock.now + .seconds(30)
    while self[name] == nil, ContinuousClock.now < limit { usleep(1_000) }
    return self[name]
  }
}
