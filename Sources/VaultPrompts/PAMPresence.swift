import Glibc
import Synchronization
public import VaultKit

/// Whether the person at the machine is its user, as the system's PAM service `vault` finds out: her login password,
/// a fingerprint, a security key, whatever the administrator chose.
///
/// **Advisory**: the answer is a number inside this process, and a library that is loaded into it can change it. No key
/// depends on it. Success is success of both `pam_authenticate` and `pam_acct_mgmt`; every other result is a denial.
/// The modules run on a thread of their own; one that hangs is left behind there.
public struct PAMPresence: PresenceSource {
  private let service: String
  private let user: String?
  private let place: Place
  private let limits: Limits
  private let current = CurrentConversation()

  /// - Parameter service: The name of its file in `/etc/pam.d`, which `scripts/install-pam` installs.
  public init(service: String = "vault") { self.init(service: service, user: nil, place: .system) }

  /// - Parameter user: nil for the one that this process runs for.
  package init(service: String, user: String? = nil, place: Place, limits: Limits = Limits()) {
    (self.service, self.user, self.place, self.limits) = (service, user, place, limits)
  }

  /// Asks PAM, showing what it asks through `prompt`.
  ///
  /// - Throws: `.authenticationFailed` for every answer that says no; `.cancelled`, `.interactionNotAllowed` and
  ///   `.malformed` (NUL, more than 511 bytes) of the conversation; `.unsupported` when there is no PAM or no such
  ///   service; `.verificationUnavailable` when a module is broken or gives no answer.
  public func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    try requireService()
    guard let user = user ?? Self.ownName() else {
      throw VaultError(.unsupported, "this process runs for a user without a name, whom PAM cannot verify")
    }
    guard abandonedThreads.load(ordering: .relaxed) < Self.mostAbandoned else { throw .pamSilent }
    let conversation = try PAMConversation(request, prompt, limits)
    current.set(conversation)
    defer { current.set(nil) }
    let (service, place) = (service, place)
    try Thread.start {
      conversation.finish(PAMOutcome.of(service: service, user: user, place: place, conversation))
    }
    try conversation.wait()
  }

  /// Ends a verification that is open, from any thread, as `.cancelled`.
  public func cancel() { current.cancel() }

  /// Why PAM cannot be asked here; nil when it can.
  package func obstacle() -> VaultError? {
    do throws(VaultError) {
      try requireService()
      return nil
    } catch { return error }
  }

  /// How many bytes PAM takes as an answer.
  package static let longestAnswer = 511
}

extension PAMPresence {
  /// Where the service's file is.
  package struct Place: Sendable {
    /// The function of libpam that looks into one folder, and the folder. What is shipped names neither.
    let function: String?
    let folders: [String]

    /// The system's.
    package static let system = Place(function: nil, folders: ["/etc/pam.d", "/usr/lib/pam.d"])

    /// One folder, for tests.
    package init(startedBy function: String, folder: String) {
      self.init(function: function, folders: [folder])
    }

    private init(function: String?, folders: [String]) { (self.function, self.folders) = (function, folders) }
  }

  /// How long is waited for what.
  package struct Limits: Sendable {
    /// A module that says nothing and asks nothing.
    package var silence: Duration
    /// A module that showed a text ("place your finger on the reader") and asks nothing.
    package var afterText: Duration
    /// A person at the prompt.
    package var person: Duration
    /// Everything together.
    package var whole: Duration

    package init(
      silence: Duration = .milliseconds(4800), afterText: Duration = .seconds(45),
      person: Duration = .seconds(310), whole: Duration = .seconds(900)
    ) {
      (self.silence, self.afterText, self.person, self.whole) = (silence, afterText, person, whole)
    }
  }

  /// Without a file of that name PAM would silently take the service `other`.
  private func requireService() throws(VaultError) {
    guard place.folders.contains(where: { unsafe access($0 + "/" + service, F_OK) == 0 }) else {
      throw VaultError(
        .unsupported, "PAM has no service '\(service)' here", hint: "as root: scripts/install-pam")
    }
  }

  private static func ownName() -> String? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let result = unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
    guard result == 0, unsafe found != nil else { return nil }
    return unsafe String(validatingCString: entry.pw_name)
  }

  private static let mostAbandoned = 4
}

/// How many threads of this process hang in a module.
let abandonedThreads = Atomic<Int>(0)

/// The conversation that is open, so that another thread can end it.
private final class CurrentConversation: Sendable {
  private let conversation = Mutex<PAMConversation?>(nil)

  func set(_ new: PAMConversation?) { conversation.withLock { $0 = new } }
  func cancel() { conversation.withLock { $0 }?.cancel() }
}

/// A thread of its own, for calls that block.
private enum Thread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func start(_ body: @escaping @Sendable () -> Void) throws(VaultError) {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, &attributes,
      { pointer in
        unsafe Unmanaged<Work>.fromOpaque(pointer!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard result == 0 else {
      unsafe work.release()
      throw VaultError(.io, "no thread for PAM", underlying: result)
    }
  }
}
