import CommandLineKit
package import VaultKit
package import VaultPrompts
import VaultWords

/// Who can be asked here: prompts, PAM's helper and the fingerprint reader. Nothing of it is needed by every vault, so what is
/// not there is no weakness.
package enum PromptFindings {
  package static func all(
    prompt: AutomaticPrompt, presence: PAMPresence, biometry: any BiometrySource
  ) -> [Finding] {
    [asking(prompt), helper(presence), reader(biometry)]
  }
}

private func asking(_ prompt: AutomaticPrompt) -> Finding {
  do throws(Pinentry.Absence) {
    guard let found = try prompt.findPinentryIfNeeded() else {
      return Finding("prompt", .ok, "secrets are asked for on this terminal")
    }
    return Finding("prompt", .ok, "there is no terminal; secrets are asked for by \(found.path)")
  } catch {
    let why = VaultError(absence: error)
    return Finding(
      "prompt", .ok, "nobody can be asked from here: \(why.message)",
      "secrets have to be given, by a descriptor or a file")
  }
}

private func helper(_ presence: PAMPresence) -> Finding {
  do throws(VaultError) {
    return Finding("pamHelper", .ok, "PAM is asked by \(try presence.helperPath())")
  } catch  where error.code == .unsupported {
    return Finding("pamHelper", .ok, "PAM cannot be asked: \(error.message)", CommandError(error).hint)
  } catch {
    return Finding("pamHelper", .warning, error.message, CommandError(error).hint)
  }
}

private func reader(_ biometry: any BiometrySource) -> Finding {
  do throws(VaultError) {
    let fingers = try biometry.enrolledFingers()
    return Finding(
      "fingerprint", .ok,
      fingers.isEmpty
        ? "there is a reader, and no finger is enrolled with fprintd"
        : "fprintd knows \(fingers.count) finger\(fingers.count == 1 ? "" : "s")")
  } catch  where error.code == .unsupported {
    return Finding(
      "fingerprint", .ok, "fingers cannot be members: \(error.message)", CommandError(error).hint)
  } catch {
    return Finding("fingerprint", .warning, error.message, CommandError(error).hint)
  }
}
