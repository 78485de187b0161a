import CommandLineKit
import Glibc
import VaultKit
import VaultPrompts

/// `vaultctl-testing verify-finger [SECONDS [SETUP]]`: one attempt at the fingerprint reader, or with `list` the enrolled
/// fingers; SETUP in milliseconds. `VAULTD_PERSON` names another user. Prints what it shows and what came of it.
func verifyFinger() -> Never { exit(attemptFinger()) }

private func attemptFinger() -> Int32 {
  let word = CommandLine.arguments.dropFirst(2).first ?? ""
  var limits = FprintdSource.Limits(person: .seconds(Int64(word) ?? 20))
  if let setUp = CommandLine.arguments.dropFirst(3).first.flatMap(Int64.init) {
    limits.setUp = .milliseconds(setUp)
  }
  let source = FprintdSource(limits: limits, of: Environment.process["VAULTD_PERSON"] ?? "")
  do throws(VaultError) {
    if word == "list" {
      say("enrolled: \(try source.enrolledFingers().joined(separator: " "))")
    } else {
      let request = PromptRequest(.finger, operation: "use the key", label: "mail")
      say("verified: \(try source.verify(request, showing: say) ?? "some finger")")
    }
    return 0
  } catch {
    say("\(error.code.rawValue): \(error.message)")
    return 3
  }
}

private func say(_ line: String) {
  print(line)
  fflush(nil)
}
