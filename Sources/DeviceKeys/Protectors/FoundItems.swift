import VaultFormat
import CSecretService
import Glibc
import Synchronization

/// The items in an answer. Releasing them also wipes libsecret's copies of the secrets.
@safe
struct FoundItems: ~Copyable {
  private let answer: UnsafeMutablePointer<secret_service_answer>

  init(_ answer: UnsafeMutablePointer<secret_service_answer>) throws(VaultError) {
    let fault = unsafe Self.fault(answer.pointee)
    if let fault {
      unsafe secret_service_free(answer)
      throw fault
    }
    unsafe self.answer = answer
  }

  deinit { unsafe secret_service_free(answer) }

  var count: Int { unsafe answer.pointee.count }
  var isEmpty: Bool { count == 0 }
  var isDefaultLocked: Bool { unsafe answer.pointee.is_default_locked }
  var hasLocked: Bool { (0..<count).contains { isLocked($0) } }
  var allAreLocked: Bool { (0..<count).allSatisfy { isLocked($0) } }

  func isLocked(_ index: Int) -> Bool { unsafe item(index).is_locked }
  func path(_ index: Int) -> String { unsafe text(item(index).path) }
  func keyID(_ index: Int) -> DeviceKeyID? { unsafe DeviceKeyID(hexadecimal: text(item(index).key)) }

  /// The device key that an unlocked item holds.
  func key(_ index: Int) throws(VaultError) -> DeviceKey {
    let item = unsafe item(index)
    guard let bytes = unsafe item.bytes else { throw KeyText.damaged }
    return try unsafe KeyText.decode(RawSpan(_unsafeStart: bytes, byteCount: item.byte_count))
  }

  private func item(_ index: Int) -> secret_service_item {
    unsafe withUnsafePointer(to: &answer.pointee.items) {
      unsafe UnsafeRawPointer($0).assumingMemoryBound(to: secret_service_item.self)[index]
    }
  }

  private func text<Field>(_ field: Field) -> String { Self.text(field) }

  private static func text<Field>(_ field: Field) -> String {
    unsafe withUnsafeBytes(of: field) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

extension FoundItems {
  /// Whether the service refused the session only because of its random numbers, before it did anything.
  static func wasRefusedAtRandom(_ answer: secret_service_answer) -> Bool {
    let message = text(answer.message)
    return answer.status == SECRET_SERVICE_FAILED
      && message.indices.contains { message[$0...].hasPrefix("public key size") }
  }

  /// The error of an answer. Each kind of fault has its own message.
  private static func fault(_ answer: secret_service_answer) -> VaultError? {
    func unavailable(_ message: String, hint: Hint) -> VaultError {
      VaultError(
        .deviceKeyUnavailable, message, hint: hint, underlying: Int32(answer.status.rawValue))
    }
    // Text of another program, which must not control a terminal.
    let said = String(
      text(answer.message).unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    let words = said.isEmpty ? "" : ": " + said
    switch answer.status {
    case SECRET_SERVICE_DONE: return nil
    case SECRET_SERVICE_NO_LIBRARY:
      return unavailable(
        "libsecret, through which the Secret Service is reached, is not installed",
        hint: "install it (Debian: libsecret-1-0)")
    case SECRET_SERVICE_NO_BUS:
      return unavailable(
        "the session bus cannot be reached or went away" + words,
        hint: "check DBUS_SESSION_BUS_ADDRESS, or log in again")
    case SECRET_SERVICE_NO_SERVICE:
      return unavailable(
        "no program offers the Secret Service on this session bus" + words,
        hint: "start gnome-keyring-daemon, KWallet or KeePassXC, and try again")
    case SECRET_SERVICE_FOREIGN:
      return unavailable(
        "the Secret Service on this bus is another user's: it is not asked",
        hint: "check DBUS_SESSION_BUS_ADDRESS")
    case SECRET_SERVICE_TIMED_OUT:
      return unavailable(
        "the Secret Service does not answer", hint: "look for its prompt or restart it, and try again")
    case SECRET_SERVICE_GONE:
      return unavailable(
        "the Secret Service ended before it answered" + words, hint: "start it, and try again")
    case SECRET_SERVICE_LOCKED: return SecretServiceCalls.locked
    case SECRET_SERVICE_DISMISSED:
      return VaultError(
        .deviceKeyLocked, "the Secret Service stays locked: its prompt was dismissed, or could not be shown",
        hint: "unlock it with your desktop's password manager, and try again")
    case SECRET_SERVICE_NO_COLLECTION:
      return unavailable(
        "the Secret Service has no default collection to keep the device key in",
        hint: "make one with your desktop's password manager, or log in once with your password")
    case SECRET_SERVICE_TRANSIENT:
      return unavailable(
        "the Secret Service's default collection is forgotten when the session ends",
        hint: "make a lasting default collection with your desktop's password manager")
    default: return unavailable("the Secret Service failed" + words, hint: "look at its log, and try again")
    }
  }
}
