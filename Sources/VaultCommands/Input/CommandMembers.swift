import VaultKit
import VaultPrompts

/// The members that are no phrases, as one source: fingers of the reader, and the login password.
///
/// Advisory, all of them: no key comes of a finger or of PAM.
struct CommandMembers: BiometrySource {
  /// The names of those that are enrolled in the vault.
  let members: [String]
  let world: World
  let prompt: any Prompt
  let mayPrompt: Bool

  func enrolledFingers() throws(VaultError) -> [String] { members }

  /// The reader first; the login password where there is no reader, or where it does not work.
  func verify(
    _ request: PromptRequest, showing progress: (String) -> Void
  ) throws(VaultError) -> String? {
    guard mayPrompt else {
      throw VaultError(.interactionNotAllowed, "a person is needed, and asking is switched off")
    }
    let hasLogin = members.contains(LoginMember.name)
    if members.contains(where: { $0 != LoginMember.name }) {
      do throws(VaultError) { return try verifyFinger(request, progress) } catch {
        guard hasLogin, Self.gone.contains(error.code) else { throw error }
        progress("no fingerprint reader: \(error.message)")
      }
    }
    guard hasLogin else { throw VaultError(.unsupported, "no member can be verified here") }
    var request = request
    request.subject = .presence
    request.requester = nil
    try world.presence.verifyPresence(request, asking: prompt)
    return LoginMember.name
  }

  func cancel() {
    world.biometry.cancel()
    world.presence.cancel()
  }

  /// fprintd may not say which finger it was: one that is enrolled there and not here must not pass.
  private func verifyFinger(
    _ request: PromptRequest, _ progress: (String) -> Void
  ) throws(VaultError) -> String? {
    let strangers = try world.biometry.enrolledFingers().filter {
      !members.contains($0) || $0 == LoginMember.name
    }
    guard strangers.isEmpty else {
      throw VaultError(
        .policy,
        "the reader knows fingers that are no members: \(printable(strangers.joined(separator: ", ")))",
        hint: "enrol them with 'vaultctl biometry enroll --source fingerprint', or delete them from fprintd")
    }
    var request = request
    request.requester = nil
    return try world.biometry.verify(request, showing: progress)
  }

  private static let gone: Set<VaultError.Code> = [.unsupported, .verificationUnavailable, .busy]
}

/// The login password as a member of the enrolled set.
struct LoginMember: BiometrySource {
  static let name = "login"

  func enrolledFingers() -> [String] { [Self.name] }

  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String? {
    throw VaultError(.unsupported, "LoginMember is for enrolling")
  }
}
