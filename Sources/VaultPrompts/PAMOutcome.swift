import CPAM
import Glibc
import SecretMemory
import VaultKit

/// What the modules found, made on their thread.
enum PAMOutcome {
  /// nil is success of both steps, for the user that was asked about.
  static func of(
    service: String, user: String, place: PAMPresence.Place, _ conversation: PAMConversation
  ) -> VaultError? {
    var session: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(conversation).toOpaque()
    let started = unsafe start(service, user, place, context, &session)
    guard started == 0, let session = unsafe session else { return error(ofStart: started) }
    var result = unsafe cpam_authenticate(session)
    var failure = result == 0 ? nil : error(ofAuthentication: result)
    if failure == nil {
      result = unsafe cpam_check_account(session)
      failure = result == 0 ? nil : error(ofAccount: result)
    }
    if failure == nil, unsafe cpam_is_user(session, user) == 0 {
      failure = VaultError(.authenticationFailed, "PAM verified another user")
    }
    unsafe cpam_end(session, result)
    return failure
  }

  private static func start(
    _ service: String, _ user: String, _ place: PAMPresence.Place, _ context: UnsafeMutableRawPointer,
    _ session: inout OpaquePointer?
  ) -> Int32 {
    guard let function = place.function, let folder = place.folders.first else {
      return unsafe cpam_start(service, user, cpam_place(), answer, context, &session)
    }
    return unsafe function.withCString { function in
      unsafe folder.withCString { folder in
        unsafe cpam_start(
          service, user, cpam_place(function: function, folder: folder), answer, context, &session)
      }
    }
  }
}

/// The bridge from C: one message of a module. Anything but 0 ends the conversation.
private func answer(
  context: UnsafeMutableRawPointer?, style: Int32, message: UnsafePointer<CChar>?,
  answer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  guard let context = unsafe context, let message = unsafe message, let answer = unsafe answer else {
    return -1
  }
  let conversation = unsafe Unmanaged<PAMConversation>.fromOpaque(context).takeUnretainedValue()
  let count = unsafe strnlen(message, longestMessage)
  let text = unsafe String(decoding: UnsafeRawBufferPointer(start: message, count: count), as: UTF8.self)
  guard style == 1 || style == 2 else { return conversation.show(text, style: style) ? 0 : -1 }
  guard let typed = conversation.ask(text) else { return -1 }
  unsafe answer.pointee = typed.expose { bytes in
    unsafe bytes.withUnsafeBytes { unsafe cpam_answer($0.baseAddress, $0.count) }
  }
  return unsafe answer.pointee == nil ? -1 : 0
}

private let longestMessage = 4096

extension PAMOutcome {
  private static func error(ofStart result: Int32) -> VaultError {
    switch result {
    case -1:
      VaultError(.unsupported, "there is no libpam here", hint: "install it: apt install libpam0g")
    case -2:
      VaultError(.unsupported, "the libpam of this system lacks a function", hint: "install a newer one")
    default: broken(result)
    }
  }

  /// The numbers are those of Linux-PAM.
  private static func error(ofAuthentication result: Int32) -> VaultError {
    switch result {
    case 7: denied("PAM denied it: a wrong answer, or a rule of the administrator", result)
    case 6: denied("PAM does not permit it", result)
    case 8: denied("PAM may not read what it compares the answer with", result)
    case 10: denied("PAM does not know this user", result)
    case 11: denied("PAM denied it: too many tries", result)
    case 12, 27: denied("the password has expired", result, hint: "change it: passwd")
    case 13: denied("the account has expired", result)
    case 9:
      VaultError(
        .verificationUnavailable, "PAM does not reach the service that knows the password", underlying: result
      )
    default: broken(result)
    }
  }

  private static func error(ofAccount result: Int32) -> VaultError {
    switch result {
    case 7, 6: denied("PAM does not let this account in", result)
    case 10: denied("PAM does not know this account", result)
    case 12, 27: denied("the password has expired", result, hint: "change it: passwd")
    case 13: denied("the account has expired", result)
    default: broken(result)
    }
  }

  private static func denied(_ message: String, _ result: Int32, hint: String? = nil) -> VaultError {
    VaultError(.authenticationFailed, message, hint: hint, underlying: result)
  }

  private static func broken(_ result: Int32) -> VaultError {
    VaultError(
      .verificationUnavailable, "the PAM service does not work (PAM error \(result))",
      hint: "the system log says which module", underlying: result)
  }
}

extension VaultError {
  static var pamSilent: VaultError {
    VaultError(
      .verificationUnavailable, "a PAM module gives no answer", hint: "the system log may say which one")
  }
}
