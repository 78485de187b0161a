import AuthenticatorKit
import Synchronization
import TransportPrograms
import VaultKit

/// How requests ended.
final class Results: Sendable {
  private let all = Mutex<[String: String]>([:])

  subscript(name: String) -> String? { all.withLock { $0[name] } }

  func run(_ name: String, _ ending: PromptEnding?, _ transport: TransportProgram) {
    var request = TransportRequest(.login, id: PeerProgram.id, fields: ["peer": .text(name)])
    request.ending = ending
    let result: String
    do throws(VaultError) {
      result = try transport.send(request).fields.word("state") ?? "nothing"
    } catch { result = error.code.rawValue }
    all.withLock { $0[name] = result }
  }
}
