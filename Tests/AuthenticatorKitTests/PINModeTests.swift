import AuthenticatorKit
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when a PIN that was given is used where only a biokey may be, and when a biokey is asked for where only
/// the PIN may be.
@Suite("Which factor makes a code", .bounded, .requirement("A5"))
struct PINModeTests {
  enum Given: CaseIterable, Sendable {
    case nothing, pin, biokey
  }

  /// The mode of the server, what was given, and the refusal; `nil` for a code.
  private static let table: [(mode: Int, given: Given, refusal: VaultError.Code?)] = [
    (0, .nothing, nil), (0, .pin, nil), (0, .biokey, nil),
    (1, .nothing, .interactionNotAllowed), (1, .pin, nil), (1, .biokey, .interactionNotAllowed),
    (2, .nothing, .policy), (2, .pin, .policy), (2, .biokey, .policy),
    (8, .nothing, .interactionNotAllowed), (8, .pin, .interactionNotAllowed), (8, .biokey, nil),
    (9, .nothing, .interactionNotAllowed), (9, .pin, nil), (9, .biokey, nil),
  ]

  @Test("five modes with nothing, the PIN and the biokey: mode 0 is a credential without a PIN")
  func table() throws {
    let scene = try BiokeyScene()
    try scene.register()
    for (mode, given, refusal) in Self.table {
      let context =
        switch given {
        case .nothing: try BiokeyScene.given()
        case .pin: try BiokeyScene.given(pin: BiokeyScene.pinDigits)
        case .biokey: try BiokeyScene.given(phrase: "right")
        }
      let id = mode == 0 ? scene.open : scene.bank
      let found = scene.refusal(by: PINFactors(rawValue: mode), of: id, context)
      expect(found, equals: refusal, "mode \(mode), \(given)")
    }
    expect(Self.table.count, equals: 15)
    try expect(scene.pinAttemptsLeft(), equals: 10)
    // Behind a PIN, mode 0 makes no code.
    let pin = try BiokeyScene.given(pin: BiokeyScene.pinDigits)
    expect(scene.refusal(by: [], pin), equals: .policy)
  }

  @Test("a person is asked for what the mode names, the biokey before the PIN")
  func asked() throws {
    let scene = try BiokeyScene()
    try scene.register()
    for (mode, asked) in [(1, [.pin]), (8, [.phrase]), (9, [.phrase, .pin])]
      as [(Int, [PromptRequest.Subject])]
    {
      let prompt = ScriptedPrompt([])
      let context = AuthenticationContext(reason: "", prompt: prompt)
      expect(scene.refusal(by: PINFactors(rawValue: mode), context), equals: .cancelled)
      expect(prompt.requests.map(\.subject), equals: asked)
      #expect(prompt.requests.allSatisfy { $0.operation == "make a code" })
    }
  }
}
