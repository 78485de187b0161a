import Glibc
import PAMMessages
import Synchronization
import TrustedPaths
public import VaultKit

/// Verifies that the person at the machine is its user, by the system's PAM service `vaultctl`: with the login
/// password, a fingerprint, a security key, or whatever the administrator chose.
///
/// **Advisory**: the answer comes from another program, and a library that is loaded into either program can change
/// it. No key depends on it. PAM's modules run in a helper program, `vault-pam`. It is started for one question and
/// ended after it, so a module that hangs, crashes or exits does so there. Success means that both
/// `pam_authenticate` and `pam_acct_mgmt` succeeded, reported in one message that repeats the random number of the
/// question. Everything else is a denial.
public struct PAMPresence: PresenceSource, EndsWithRequest {
  private let service: String
  private let user: String?
  private let helper: Helper
  private let limits: Limits
  private let open = OpenConversations()

  /// - Parameters:
  ///   - service: The name of the service's file in `/etc/pam.d`, which `scripts/install-pam` installs.
  ///   - helper: The absolute path of `vault-pam`; nil for the one beside the running program, else the one in
  ///     `/usr/libexec/vaultctl`.
  public init(service: String = "vaultctl", helper: String? = nil) {
    self.init(service: service, helper: helper.map { Helper(at: $0) } ?? .installed)
  }

  /// - Parameter user: nil for the user of this process.
  package init(
    service: String = Self.usualService, user: String? = nil, helper: Helper, limits: Limits = Limits()
  ) {
    (self.service, self.user, self.helper, self.limits) = (service, user, helper, limits)
  }

  package static let usualService = PAMRequest.usualService

  /// Asks PAM. `prompt` shows the questions of PAM's modules.
  ///
  /// - Throws: `.authenticationFailed` for every answer that denies; `.cancelled`, `.interactionNotAllowed` and
  ///   `.malformed` (NUL, more than 511 bytes) from the conversation; `.unsupported` when there is no `vault-pam`
  ///   or no such service; `.verificationUnavailable` when others can change `vault-pam`, when the service cannot
  ///   be read, and when a module is broken or silent.
  public func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    try helper.requireService(service)
    guard let user = user ?? Self.ownName() else {
      throw VaultError(.unsupported, "the user of this process has no name, so PAM cannot verify them")
    }
    announceWaitingForPerson()
    let conversation = try PAMConversation(for: request, asking: prompt, limits: limits)
    open.add(conversation)
    defer { open.remove(conversation) }
    let ticket = request.ending?.add { conversation.end() }
    defer { if let ticket { request.ending?.remove(ticket) } }
    try conversation.verify(user: user, service: service, with: helper)
  }

  /// Ends every open verification, from any thread, as `.cancelled`.
  public func cancel() { open.cancel() }

  /// Why PAM cannot verify anyone here; nil when it can.
  package func obstacle() -> VaultError? {
    do throws(VaultError) {
      _ = try helperPath()
      try helper.requireService(service)
      return nil
    } catch { return error }
  }

  /// The path of `vault-pam`.
  ///
  /// - Throws: Why it cannot be started.
  package func helperPath() throws(VaultError) -> String { try helper.opened().path }
}

extension PAMPresence {
  /// How long to wait for what.
  package struct Limits: Sendable {
    /// For a module that is silent and asks nothing.
    package var silence: Duration
    /// For a module that showed a text ("place your finger on the reader") and asks nothing.
    package var afterText: Duration
    /// For everything together. A prompt has its own patience.
    package var whole: Duration
    /// The limits pass by this clock.
    let now: Now

    package init(
      silence: Duration = .milliseconds(4800), afterText: Duration = .seconds(45),
      whole: Duration = .seconds(900), by now: @escaping Now = { ContinuousClock.now }
    ) { (self.silence, self.afterText, self.whole, self.now) = (silence, afterText, whole, now) }
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
    // A new array, because the thread sanitizer does not see the reference counts that order the uses of a shared
    // one.
    for conversation in all.withLock({ $0.map { $0 } }) { conversation.cancel() }
  }
}
