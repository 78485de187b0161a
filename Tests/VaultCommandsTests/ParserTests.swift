import CommandLineKit
import TestSupport
import Testing
import VaultCommands

@Suite("The command line", .bounded)
struct ParserTests {
  private func parse(_ words: String...) throws -> Invocation {
    guard case .run(let invocation) = try Parser.parse(words, of: VerbTable.program) else {
      throw CommandError.usage("help")
    }
    return invocation
  }

  private func exit(_ words: [String]) -> ExitCode {
    do throws(CommandError) {
      _ = try Parser.parse(words, of: VerbTable.program)
      return .done
    } catch { return error.exit }
  }

  @Test("options stand before and after words, and take their value in both spellings")
  func spellings() throws {
    let invocation = try parse("--vault", "/v", "completion", "--json", "bash", "--prompt=none")
    expect(invocation.options["vault"], equals: "/v")
    expect(invocation.options["prompt"], equals: "none")
    #expect(invocation.options["json"] != nil)
    expect(invocation.arguments["SHELL"], equals: ["bash"])
  }

  @Test(
    "a refused line is wrong usage",
    arguments: [
      [], ["item"], ["nonsense"], ["item", "nonsense"], ["path", "surplus"], ["path", "--nonsense"],
      ["path", "--vault"], ["path", "--vault", "a", "--vault", "b"], ["path", "--json=yes"],
      ["path", "--prompt", "maybe"], ["path", "--no-input", "--prompt", "terminal"], ["completion", "tcsh"],
      ["completion"], ["-x"], ["path", "-x"], ["path", "--vault="], ["--version", "x"],
    ])
  func wrongUsage(words: [String]) {
    expect(exit(words), equals: .usage)
  }

  @Test(
    "a one-time-password URI in any word is refused and never repeated",
    arguments: [
      ["otp", "add", "otpauth://totp/x?secret=CANARYSECRET"],
      ["otp", "add", "x", "OTPAUTH://totp/x?secret=CANARYSECRET"],
      ["otp", "add", "x", "--vault=otpauth://totp/x?secret=CANARYSECRET"],
      ["otpauth-migration://offline?data=CANARYSECRET"],
      ["otp", "add", "--", "otpauth:CANARYSECRET"],
    ])
  func uriInWords(words: [String]) {
    #expect { try Parser.parse(words, of: VerbTable.program) } throws: { error in
      guard let error = error as? CommandError else { return false }
      let text = error.message + (error.hint ?? "")
      return error.exit == .usage && error.hint != nil && !text.contains("CANARY")
    }
  }

  @Test(
    "what the road map promises is unknown until it exists",
    arguments: [
      ["otp", "qr", "x"],
      ["export", "pskc"],
    ])
  func unknownYet(words: [String]) {
    expect(exit(words), equals: .usage)
  }

  @Test("every verb is in the table, once, with an example of itself")
  func table() {
    let expected = """
      init status doctor verify version path passcode-set passcode-change passcode-remove item-add item-get item-show \
      item-list item-edit item-rename item-rm item-find item-history item-undo item-trash-list \
      item-trash-restore item-trash-empty cp gen read inject exec otp-add otp-code otp-verify otp-resync otp-confirm otp-sync \
      otp-counter otp-list otp-show otp-export otp-rm otp-activate-start \
      otp-activate-finish otp-activate-status otp-activate-disable transaction-list transaction-show transaction-accept \
      transaction-reject transaction-cancel transaction-sign transaction-verify \
      pin-set pin-verify pin-change pin-undo pin-status pin-unlock biometry-enroll biometry-list biometry-remove \
      biokey-register biokey-list biokey-reset token-put token-get token-list token-revoke token-purge session-open \
      session-close consent-request consent-confirm consent-resend consent-list key-generate key-import key-list key-public key-sign key-verify key-rm jwt-sign jwt-verify dpop \
      oauth-register oauth-token oauth-device oauth-refresh oauth-revoke oauth-authorize-header import export backup restore \
      recovery-code-new recovery-code-check recovery-code-remove rotate-device-key rotate-epoch rotate-parameters purge \
      audit clock batch completion unlock lock agent-start agent-stop agent-status keeper-status keeper-adopt \
      keeper-leave keeper-settle grant-list grant-revoke
      """.split(separator: " ").map(String.init)
    let names = VerbTable.all.map { $0.words.joined(separator: "-") }
    expect(names.sorted(), equals: expected.sorted())
    for verb in VerbTable.all {
      for example in verb.examples { #expect(example.contains("vaultctl \(verb.name)"), "\(verb.name)") }
      expect(
        Set(verb.options.map(\.name)).count, equals: verb.options.count, "\(verb.name) has an option twice")
      #expect(!verb.summary.isEmpty && verb.summary.hasSuffix("."), "\(verb.name)")
    }
  }
}
