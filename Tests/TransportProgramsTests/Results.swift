import AuthenticatorKit
import Foundation
import Synchronization
import TestSupport
import Testing
import TransportPrograms
import VaultKit

/// How requests ended, each on a thread of its own.
final class Results: Sendable {
  private let all = Mutex<(words: [String: String], error: VaultError?)>(([:], nil))

  subscript(name: String) -> String? { all.withLock { $0.words[name] } }

  /// The error of the request that failed last.
  var error: VaultError? { all.withLock { $0.error } }

  /// Sends a request whose `peer` is the name. Its result is a `state`, or the code of an error.
  func start(
    _ name: String, _ ending: PromptEnding?, _ transport: TransportProgram,
    _ fields: TransportFields = TransportFields()
  ) {
    var fields = fields
    fields["peer"] = .text(name)
    var request = TransportRequest(.login, id: PeerProgram.id, fields: fields)
    request.ending = ending
    Thread.detachNewThread { [self, request] in
      do throws(VaultError) {
        let state = try transport.send(request).fields.word("state") ?? "nothing"
        all.withLock { $0.words[name] = state }
      } catch { all.withLock { ($0.words[name], $0.error) = (error.code.rawValue, error) } }
    }
  }

  /// Waits for a result.
  func await(_ name: String) throws -> String {
    try waitUntil("the end of the request '\(name)'") { self[name] != nil }
    return try #require(self[name])
  }
}
