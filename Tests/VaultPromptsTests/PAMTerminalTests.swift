import Foundation
import TestSupport
import Testing
import VaultKit
import VaultPrompts

extension OneAtATime {
  /// Apart from the other tests of PAM: while its prompt is open, the next prompt of this process says that it waits.
  @Suite("PAM asks on a terminal", .bounded, .requirement("R18"))
  struct PAMTerminalTests {
    @Test("another thread ends the question")
    func cancel() throws {
      let world = try PAMWorld()
      try world.module(auth: "ask return 0")
      let screen = try PseudoTerminal()
      let presence = PAMPresence(
        service: "vaultctl", helper: world.helper, limits: .init(by: HeldClock().now))
      let path = screen.path
      let answer = Answer.doing { () throws(VaultError) in
        try presence.verifyPresence(
          PromptRequest(.presence, operation: "use the key"), asking: TerminalPrompt(path: path))
      }
      try screen.wait(for: "PAM asks: Secret \\u{1B}[2Jword: ")
      #expect(PromptLock(of: screen).isHeld)
      presence.cancel()
      try expect(answer.wait().error?.code, equals: .cancelled)
      #expect(screen.echoes && !PromptLock(of: screen).isHeld)
    }
  }
}
