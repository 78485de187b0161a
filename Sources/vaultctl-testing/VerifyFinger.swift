import Glibc
import VaultKit
import VaultPrompts

/// `vaultctl-testing verify-finger [SECONDS]`: one attempt at the fingerprint reader, or with `list` the enrolled fingers.
/// Prints what it shows and what came of it.
func verifyFinger() -> Never {
  let word = CommandLine.arguments.dropFirst(2).first ?? ""
  let source = FprintdSource(limits: .init(person: .seconds(Int64(word) ?? 20)))
  do throws(VaultError) {
    if word == "list" {
      say("enrolled: \(try source.enrolledFingers().joined(separator: " "))")
    } else {
      let request = PromptRequest(.finger, operation: "use the key", label: "mail")
      say("verified: \(try source.verify(request, showing: say) ?? "some finger")")
    }
    exit(0)
  } catch {
    say("\(error.code.rawValue): \(error.message)")
    exit(3)
  }
}

private func say(_ line: String) {
  print(line)
  fflush(nil)
}
