import Glibc
import PAMHelper
import PAMMessages
import SecretMemory
import TestSupport
import Testing

/// The end of the program is a socket of the test, which answers before it is asked: nothing waits.
@Suite("Questions of PAM's modules", .bounded)
struct PAMQuestionsTests {
  private struct Ends: ~Copyable {
    let questions: PAMQuestions
    let program: PAMChannel

    init() {
      var ends: [Int32] = [-1, -1]
      precondition(unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
      questions = PAMQuestions(PAMChannel(owning: ends[0]))
      program = PAMChannel(owning: ends[1])
    }

    func pass(_ kind: PAMReport.Kind, _ words: String) -> (result: Int32, answer: String?) {
      var answer: UnsafeMutablePointer<CChar>?
      let result = unsafe questions.pass(kind, message: words, answer: &answer)
      defer { unsafe free(answer) }
      return (result, unsafe answer.map { unsafe String(cString: $0) })
    }

    func said() throws -> PAMReport? { try program.receive().flatMap(PAMReport.init) }
  }

  /// Verified to fail when a question is sent as an error.
  @Test("a question reaches the program, and its answer the module")
  func question() throws {
    let ends = Ends()
    let isSent = ends.program.send(answer: SecretBytes(copying: Array("four words and more".utf8)))
    #expect(isSent)
    let (result, answer) = ends.pass(.question, "Password: ")
    expect(result, equals: 0)
    expect(answer, equals: "four words and more")
    guard case .question("Password: ")? = try ends.said() else { return #expect(Bool(false), "no question") }
  }

  /// Verified to fail when a text is sent as an error.
  @Test("a text and an error need no answer", arguments: [PAMReport.Kind.text, .error])
  func text(kind: PAMReport.Kind) throws {
    let ends = Ends()
    let (result, answer) = ends.pass(kind, "the account ends soon")
    expect(result, equals: 0)
    expect(answer, equals: nil)
    switch (kind, try ends.said()) {
    case (.text, .text("the account ends soon")?), (.error, .error("the account ends soon")?): break
    case (_, let other): Issue.record("\(String(describing: other))")
    }
  }

  /// Verified to fail when a question without an answer succeeds.
  @Test("what is no answer, and a program that is gone, are faults")
  func faults() {
    let ends = Ends()
    let isSent = ends.program.send([0x00, 0x41])
    #expect(isSent)
    expect(ends.pass(.question, "Password: ").result, equals: -1)
    ends.program.finish()
    expect(ends.pass(.question, "Password: ").result, equals: -1)
    expect(ends.pass(.text, "hello").result, equals: -1)
  }
}
