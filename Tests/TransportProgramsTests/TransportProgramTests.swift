import AuthenticatorKit
import TestSupport
import Testing
import TransportPrograms
import VaultKit

@Suite("Transports that are programs")
struct TransportProgramTests {
  @Test("a relative path is refused")
  func relative() {
    #expect(throws: VaultError.self) { try TransportProgram("transport") }
  }
}
