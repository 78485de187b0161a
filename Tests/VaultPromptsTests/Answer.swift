import Foundation
import SecretMemory
import Testing
import VaultKit

/// What a call on another thread gave, and how long it took.
final class Answer: @unchecked Sendable {  // written by the thread before `done`, read after it
  private(set) var bytes: [UInt8]?
  private(set) var agreed: Bool?
  private(set) var error: VaultError?
  private(set) var seconds = 0.0
  private let done = DispatchSemaphore(value: 0)

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
      let begin = ContinuousClock.now
      do throws(VaultError) { try body(answer) } catch { answer.error = error }
      answer.seconds = (ContinuousClock.now - begin) / .seconds(1)
      answer.done.signal()
    }
    return answer
  }

  /// The longest time for a call that gives up after a fraction of a second, on a busy machine; a call without a limit
  /// takes 30 s, 60 s, or for ever.
  static let patience = 20.0

  /// Waits for the end of the call; a call that does not end fails the test.
  @discardableResult
  func wait(seconds: Double = 120) throws -> Answer {
    try #require(done.wait(timeout: .now() + seconds) == .success, "the call did not end in \(seconds) s")
    return self
  }
}
