import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when a text is cleaned instead of refused.
@Suite("Texts that a person sees whole", .bounded)
struct ShownTextTests {
  @Test(
    "a text whose characters show is taken as it is",
    arguments: [
      "Pay 12 EUR to Anna", "two\nlines\n", "", "Zahlung an Ægir: 12 €", "שלום", "e\u{301}", "汉字 👍",
      String(repeating: "x", count: 4096), "12\u{A0}345\u{A0}€", "12\u{202F}345 €", "支付\u{3000}12",
      "می\u{200C}خواهم",
      "क्\u{200D}ष", "क्\u{200C}ष", "❤\u{FE0F}", "❤\u{FE0F}\u{200D}🔥", "👩🏽\u{200D}💻", "1\u{FE0F}\u{20E3}",
      "با\u{64B}می\u{64B}\u{200C}خ",
    ])
  func accepted(text: String) throws {
    let bytes = Array(text.utf8)
    let shown = try ShownText(bytes.span)
    expect(Array(shown.text.utf8), equals: bytes)
    try expect(ShownText(text), equals: shown)
  }

  @Test(
    "a text with any other character is refused",
    arguments: [
      "\u{1B}[2J", "a\u{202E}b", "a\u{2066}b", "a\u{200B}b", "a\tb", "a\r\nb", "a\rb", "a\u{0}",
      "\u{FEFF}a", "a\u{200C}b", "a\u{200D}b", "\u{200D}", "\u{200C}خ", "می\u{200C}", "می\u{200C}\u{200C}خ",
      "خا\u{200C}خ",
      "क\u{200D}ष", "👩\u{200D}", "👩\u{200D}a", "a\u{200D}👩", "1\u{FE0F}", "a\u{FE0F}", "\u{FE0F}",
      "❤\u{FE0F}\u{FE0F}",
      "🏴\u{E0067}\u{E007F}", "e\u{301}\u{302}\u{303}\u{304}\u{305}", "\u{2800}", "\u{3164}", "a\u{2028}b",
      "\n\u{301}", "a\u{7F}", "a\u{85}", String(repeating: "x", count: 4097),
      String(repeating: "x", count: 5120),
    ])
  func refused(text: String) {
    expect(.policy) { () throws(VaultError) in _ = try ShownText(text) }
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [[0x61, 0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]])
  func encoding(bytes: [UInt8]) {
    expect(.policy) { () throws(VaultError) in _ = try ShownText(bytes.span) }
  }

  @Test(
    "every prompt of a call has the text of its context; a finger is asked for after the text was accepted")
  func requests() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "passcode")
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s")
    ).id
    let text = try ShownText("Pay 12 EUR to Anna")
    let prompt = ScriptedPrompt([.text("wrong"), .text("passcode"), .text("passcode")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    _ = try core.secret(of: id, context: context.showing(text))
    expect(prompt.requests.map(\.text), equals: [text, text])
    _ = try core.secret(of: id, context: context)
    #expect(prompt.requests.last?.text == nil)
    let typed = ScriptedPrompt([.text("8306"), .text("8306")])
    try core.askingPIN(
      PINRequest("sign", of: nil, isTypedTwice: true),
      context: AuthenticationContext(reason: "", prompt: typed).showing(text)
    ) { (_, _) in }
    expect(typed.requests.map(\.text), equals: [text, nil])
  }

  /// Verified to fail when what was kept serves a text as well.
  @Test("`reuse` serves no text: the person sees each one before the answer")
  func reuse() throws {
    let place = TemporaryVault(environment: .testing(clock: FixedClock()))
    let core = try place.makeCore(passcode: "passcode")
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s")
    ).id
    let prompt = ScriptedPrompt(Array(repeating: .text("passcode"), count: 4))
    let context = AuthenticationContext(reason: "", prompt: prompt, reuse: .seconds(300))
    let texts = try ["Pay 12 EUR to Anna", "Pay 90 EUR to Otto"].map { try ShownText($0) }
    for text in texts { _ = try core.secret(of: id, context: context.showing(text)) }
    expect(prompt.requests.map(\.text), equals: texts)
    _ = try core.secret(of: id, context: context)
    expect(prompt.requests.count, equals: 2)
  }

  /// Verified to fail when the text is not asked about before the source is.
  @Test(
    "PAM is asked after the person has accepted the text, and not at all if they decline",
    arguments: [true, false])
  func presence(accepts: Bool) throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.userPresence)),
      secret: SecretBytes(testing: "s")
    ).id
    let text = try ShownText("Pay 12 EUR to Anna")
    let prompt = ScriptedPrompt([.confirm(accepts)])
    let source = ScriptedPresence([nil])
    let context = AuthenticationContext(reason: "", prompt: prompt, presence: source).showing(text)
    #expect(try core.secret(failing: id, with: context) == (accepts ? nil : .cancelled))
    #expect(prompt.requests.map(\.subject) == [.transaction] && prompt.requests.map(\.text) == [text])
    #expect(source.requests.count == (accepts ? 1 : 0))
  }
}
