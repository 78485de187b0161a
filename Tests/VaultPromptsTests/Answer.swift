import Foundation
import SecretMemory
import Synchronization
import TestSupport
import VaultKit

/// What a call on another thread gave.
final class Answer: @unchecked Sendable {  // written by the thread before `done`, read after it
  private(set) var bytes: [UInt8]?
  private(set) var agreed: Bool?
  private(set) var error: VaultError?
  private let done = Mutex(false)

  var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  /// Runs `body` on a thread of its own.
  static func reading(_ body: @escaping @Sendable () throws(VaultError) -> SecretBytes) -> Answer {
    start { answer throws(VaultError) in
      answer.bytes = try body().expose { span in
        (0..<span.byteCount).map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
      }
    }
  }

  static func confirming(_ body: @escaping @Sendable () throws(VaultError) -> Bool) -> Answer {
    start { answer throws(VaultError) in answer.agreed = try body() }
  }

  static func doing(_ body: @escaping @Sendable () throws(VaultError) -> Void) -> Answer {
    start { answer throws(VaultError) in
      try body()
      answer.agreed = true
    }
  }

  private static func start(_ body: @escaping @Sendable (Answer) throws(VaultError) -> Void) -> Answer {
    let answer = Answer()
    Thread.detachNewThread {
      do throws(VaultError) { try body(answer) } catch { answer.error = error }
      answer.done.withLock { $0 = true }
    }
    return answer
  }

  /// Whether the call has ended.
  var isThere: Bool { done.withLock { $0 } }

  /// Waits for the end of the call; a call that does not end fails the test.
  @discardableResult
  func wait() throws -> Answer {
    try waitUntil("the end of a call") { isThere }
    return self
  }
}
