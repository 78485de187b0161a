import SecretMemory
import VaultFormat
import CSecretService
import Glibc
import Synchronization

/// Calls of the Secret Service with their deadlines, and its failures as errors.
struct SecretServiceCalls: Sendable {
  private let busAddress: String?
  private let prompting: SecretServiceProtector.Prompting
  private let patience: Patience

  init(
    busAddress: String?, prompting: SecretServiceProtector.Prompting, patience: Duration,
    clock: SecretServiceClock?
  ) {
    self.busAddress = busAddress
    self.prompting = prompting
    self.patience = Patience(patience, by: clock)
  }

  /// The items of a vault's key, or of all its keys.
  func find(_ vault: VaultID, key: DeviceKeyID?, loads: Bool) throws(VaultError) -> FoundItems {
    try unsafe FoundItems(
      request(vault, key: key, mayPrompt: prompting == .allowed) { unsafe secret_service_find(&$0, loads) })
  }

  /// Whether there is an item of this key under the name that the schema had before the first release.
  func hasFormer(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> Bool {
    let found = try unsafe FoundItems(
      request(vault, key: key, mayPrompt: false) { request in
        unsafe request.is_former = true
        return unsafe secret_service_find(&request, false)
      })
    return !found.isEmpty
  }

  /// A new item in the default collection.
  func create(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    let label = "Device key of vault \(vault.hexadecimal.prefix(8))"
    let text = KeyText.encode(key)
    _ = try unsafe FoundItems(
      request(vault, key: key.id, mayPrompt: prompting == .allowed) { request in
        unsafe text.expose { span in
          unsafe span.withUnsafeBytes {
            unsafe secret_service_create(&request, label, $0.baseAddress, $0.count)
          }
        }
      })
  }

  /// Removes an item that was found.
  func delete(_ path: String) throws(VaultError) {
    _ = try unsafe FoundItems(
      request(VaultID.zero, key: nil, mayPrompt: false) { unsafe secret_service_delete(&$0, path) })
  }

  private typealias Answer = UnsafeMutablePointer<secret_service_answer>

  private func request(
    _ vault: VaultID, key: DeviceKeyID?, mayPrompt: Bool,
    call: (inout secret_service_request) -> Answer
  ) throws(VaultError) -> Answer {
    let address = try address()
    let milliseconds = patience.milliseconds
    let (now, clock) = unsafe SecretServiceClock.asArguments(patience.clock)
    var attempts = 0
    while true {
      let answer = unsafe withStrings(address, vault.hexadecimal, key?.hexadecimal) { address, vault, key in
        var request = unsafe secret_service_request(
          address: address, vault: vault, key: key, milliseconds: milliseconds, may_prompt: mayPrompt,
          is_former: false, now: now, clock: clock)
        return unsafe call(&request)
      }
      patience.learn(didTimeOut: unsafe answer.pointee.status == SECRET_SERVICE_TIMED_OUT)
      attempts += 1
      guard attempts < Self.mostSessions, unsafe FoundItems.wasRefusedAtRandom(answer.pointee) else {
        return unsafe answer
      }
      unsafe secret_service_free(answer)
    }
  }

  /// KWallet spoils one session in 128, when a number of the key agreement begins with a zero byte: a public key
  /// without that byte is refused, and with a secret without that byte nothing can be read. The next session has other
  /// numbers.
  static let mostSessions = 3

  private func withStrings<R>(
    _ first: String, _ second: String, _ third: String?,
    _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> R
  ) -> R {
    unsafe first.withCString { first in
      unsafe second.withCString { second in
        guard let third else { return unsafe body(first, second, nil) }
        return unsafe third.withCString { unsafe body(first, second, $0) }
      }
    }
  }

  /// The bus of this session: never a bus that must be started first, and never one across a network.
  private func address() throws(VaultError) -> String {
    let address: String
    if let busAddress { address = busAddress } else { address = try Self.sessionAddress() }
    guard address.split(separator: ";").allSatisfy({ $0.hasPrefix("unix:") }), !address.isEmpty else {
      throw VaultError(
        .deviceKeyUnavailable, "the session bus is not a local one: the device key is not sent there",
        hint: "set DBUS_SESSION_BUS_ADDRESS to a unix: address")
    }
    return address
  }

  private static func sessionAddress() throws(VaultError) -> String {
    func variable(_ name: String) -> String? {
      guard let text = unsafe getenv(name) else { return nil }
      let value = unsafe String(cString: text)
      return value.isEmpty ? nil : value
    }
    if let address = variable("DBUS_SESSION_BUS_ADDRESS") { return address }
    var entry = stat()
    if let folder = variable("XDG_RUNTIME_DIR"), folder.hasPrefix("/"),
      !folder.contains(where: { ",;%".contains($0) }),
      unsafe stat(folder + "/bus", &entry) == 0
    {
      return "unix:path=" + folder + "/bus"
    }
    throw VaultError(
      .deviceKeyUnavailable, "there is no session bus, so no Secret Service",
      hint: "log in to the desktop session that keeps the key, or set DBUS_SESSION_BUS_ADDRESS to its bus")
  }

  static var locked: VaultError {
    VaultError(
      .deviceKeyLocked, "the collection of the Secret Service that keeps the device key is locked",
      hint: "unlock it with your desktop's password manager, or by logging in, and try again")
  }
}

/// What tells the milliseconds in the place of the system. A test moves it.
final class SecretServiceClock: Sendable {
  let now: @Sendable () -> UInt64

  init(_ now: @escaping @Sendable () -> UInt64) { self.now = now }

  /// What C calls, with its argument. A clock that a call has got is kept for ever: a call that was left behind may look at it.
  static func asArguments(
    _ clock: SecretServiceClock?
  ) -> ((@convention(c) (UnsafeMutableRawPointer?) -> UInt64)?, UnsafeMutableRawPointer?) {
    guard let clock else { return (nil, nil) }
    let now: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { clock in
      unsafe Unmanaged<SecretServiceClock>.fromOpaque(clock!).takeUnretainedValue().now()
    }
    return unsafe (now, Unmanaged.passRetained(clock).toOpaque())
  }
}

/// How long a call may take. After an unanswered call, the following calls, which clean up, do not wait again.
private final class Patience: Sendable {
  let clock: SecretServiceClock?
  private let usual: UInt32
  private let impatientUntil = Mutex<UInt64>(0)

  init(_ usual: Duration, by clock: SecretServiceClock?) {
    (self.usual, self.clock) = (UInt32(usual / .milliseconds(1)), clock)
  }

  var milliseconds: UInt32 {
    impatientUntil.withLock { $0 } > now ? 200 : usual
  }

  func learn(didTimeOut: Bool) {
    impatientUntil.withLock { $0 = didTimeOut ? now + 10_000 : 0 }
  }

  private var now: UInt64 {
    if let clock { return clock.now() }
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
