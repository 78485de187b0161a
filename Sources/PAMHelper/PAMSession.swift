import CPAM
import Glibc
import PAMMessages

/// One question to libpam: both of its steps, for one user.
package enum PAMSession {
  /// Where the files of services are, in tests: a function of libpam that takes a folder, and the folder.
  package struct Place {
    let function: String
    let folder: String

    package init(startedBy function: String, folder: String) {
      (self.function, self.folder) = (function, folder)
    }
  }

  /// - Returns: Success only where both steps and the conversation succeeded, for the user of the request; else the first
  ///   step that did not, and PAM's result.
  static func verify(
    _ request: PAMRequest, in place: Place?, asking questions: PAMQuestions
  ) -> (PAMVerdict.Step, Int32) {
    var session: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(questions).toOpaque()
    let started = unsafe start(request, in: place, context: context, session: &session)
    guard started == 0, let session = unsafe session else { return (.start, started == 0 ? -1 : started) }
    var step = PAMVerdict.Step.authenticate
    var result = unsafe cpam_authenticate(session)
    if result == 0 {
      step = .account
      result = unsafe cpam_check_account(session)
    }
    if result == 0 { step = unsafe cpam_is_user(session, request.user) ? .success : .otherUser }
    // Modules can ask while they clean up, too.
    let hasFault = unsafe cpam_end(session, result)
    return (hasFault ? .conversation : step, result)
  }

  private static func start(
    _ request: PAMRequest, in place: Place?, context: UnsafeMutableRawPointer,
    session: inout OpaquePointer?
  ) -> Int32 {
    guard let place else {
      return unsafe cpam_start(request.service, request.user, cpam_place(), passMessage, context, &session)
    }
    return unsafe place.function.withCString { function in
      unsafe place.folder.withCString { folder in
        unsafe cpam_start(
          request.service, request.user, cpam_place(function: function, folder: folder), passMessage, context,
          &session)
      }
    }
  }
}
