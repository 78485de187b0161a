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
      [], ["vault"], ["nonsense"], ["item", "nonsense"], ["path", "surplus"], ["path", "--nonsense"],
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
      add agent-grants agent-revoke agent-start agent-status agent-stop audit backup biometry-biokey-list \
      biometry-biokey-register biometry-biokey-reset biometry-enroll biometry-list biometry-remove card-clear \
      card-consent-confirm card-consent-list card-consent-request card-consent-resend card-get card-list \
      card-put card-revoke card-session-close card-session-open code completion cp edit export find gen get \
      help history import init inject jwt-dpop jwt-sign jwt-verify keeper-adopt keeper-leave keeper-settle \
      keeper-status key-generate key-import key-list key-public key-rm key-sign key-verify lock ls mv \
      oauth-authorize-header oauth-device oauth-refresh oauth-register oauth-revoke oauth-token \
      otp-activate-disable otp-activate-finish otp-activate-start otp-activate-status otp-add otp-confirm \
      otp-counter otp-export otp-list otp-resync otp-rm otp-show otp-sync otp-verify passcode-change \
      passcode-remove passcode-set pin-change pin-set pin-status pin-undo pin-unlock pin-verify read \
      recovery-code-new recovery-code-remove recovery-code-verify restore rm run show status \
      transaction-accept transaction-cancel transaction-list transaction-reject transaction-show \
      transaction-sign transaction-verify trash-empty trash-list trash-restore undo unlock vault-batch \
      vault-check vault-clock vault-doctor vault-path vault-purge vault-rotate-device-key vault-rotate-epoch \
      vault-rotate-parameters vault-version
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
