import Glibc
import PAMMessages
import Synchronization
public import VaultKit

/// Whether the person at the machine is its user, as the system's PAM service `vault` finds out: her login password,
/// a fingerprint, a security key, whatever the administrator chose.
///
/// **Advisory**: the answer is a word of another program, and a library that is loaded into either can change it. No key
/// depends on it. PAM's modules run in a helper program, `vault-pam`, which is started for one question and ended after it: one
/// that hangs, crashes or exits does it there. Success is success of both `pam_authenticate` and `pam_acct_mgmt`, said in
/// one message that repeats a random number of the question; everything else is a denial.
public struct PAMPresence: PresenceSource {
  private let service: String
  private let user: String?
  private let helper: Helper
  private let limits: Limits
  private let open = OpenConversations()

  /// - Parameters:
  ///   - service: The name of its file in `/etc/pam.d`, which `scripts/install-pam` installs.
  ///   - helper: The absolute path of `vault-pam`, such as the one that `scripts/install-pam` installs; nil for the one
  ///     beside the running program.
  public init(service: String = "vault", helper: String? = nil) {
    self.init(service: service, helper: helper.map { Helper(at: $0) } ?? .besideProgram)
  }

  /// - Parameter user: nil for the one that this process runs for.
  package init(service: String, user: String? = nil, helper: Helper, limits: Limits = Limits()) {
    (self.service, self.user, self.helper, self.limits) = (service, user, helper, limits)
  }

  /// Asks PAM, showing what it asks through `prompt`.
  ///
  /// - Throws: `.authenticationFailed` for every answer that says no; `.cancelled`, `.interactionNotAllowed` and
  ///   `.malformed` (NUL, more than 511 bytes) of the conversation; `.unsupported` when there is no `vault-pam` or no such
  ///   service; `.verificationUnavailable` when others can change `vault-pam`, when the service cannot be read, when a module
  ///   is broken or gives no answer.
  public func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    try helper.requireService(service)
    guard let user = user ?? Self.ownName() else {
      throw VaultError(.unsupported, "this process runs for a user without a name, whom PAM cannot verify")
    }
    let conversation = try PAMConversation(request, prompt, limits)
    open.add(conversation)
    defer { open.remove(conversation) }
    try conversation.verify(user: user, service: service, with: helper)
  }

  /// Ends every verification that is open, from any thread, as `.cancelled`.
  public func cancel() { open.cancel() }

  /// Why PAM cannot be asked here; nil when it can.
  package func obstacle() -> VaultError? {
    do throws(VaultError) {
      _ = try helperPath()
      try helper.requireService(service)
      return nil
    } catch { return error }
  }

  /// Where `vault-pam` is.
  ///
  /// - Throws: Why it cannot be started.
  package func helperPath() throws(VaultError) -> String { try helper.opened().path }
}

extension PAMPresence {
  /// How long is waited for what.
  package struct Limits: Sendable {
    /// A module that says nothing and asks nothing.
    package var silence: Duration
    /// A module that showed a text ("place your finger on the reader") and asks nothing.
    package var afterText: Duration
    /// Everything together; a prompt has its own patience.
    package var whole: Duration

    package init(
      silence: Duration = .milliseconds(4800), afterText: Duration = .seconds(45),
      whole: Duration = .seconds(900)
    ) { (self.silence, self.afterText, self.whole) = (silence, afterText, whole) }
  }

  private static func ownName() -> String? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let result = unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
    guard result == 0, unsafe found != nil else { return nil }
    return unsafe String(validatingCString: entry.pw_name)
  }
}

/// The conversations that are open, so that another thread can end them.
private final class OpenConversations: Sendable {
  private let all = Mutex<[PAMConversation]>([])

  func add(_ new: PAMConversation) { all.withLock { $0.append(new) } }
  func remove(_ old: PAMConversation) { all.withLock { $0.removeAll { $0 === old } } }
  func cancel() {
    // A new array: what orders the uses of a shared one are its reference counts, which the thread sanitizer does not see.
    for conversation in all.withLock({ $0.map { $0 } }) { conversation.cancel() }
  }
}
