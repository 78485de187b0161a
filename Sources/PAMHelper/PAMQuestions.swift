import CPAM
import Glibc
package import PAMMessages
import SecretMemory

/// Passes the questions and texts of modules on to the program, which has the person.
package final class PAMQuestions {
  let channel: PAMChannel

  package init(_ channel: consuming PAMChannel) { self.channel = channel }

  /// Passes on one message of a module, and for a question its answer.
  ///
  /// - Returns: 0; anything else is a fault, which CPAM remembers.
  package func pass(
    _ kind: PAMReport.Kind, message: UnsafePointer<CChar>, answer: inout UnsafeMutablePointer<CChar>?
  )
    -> Int32
  {
    let words = unsafe UnsafeRawBufferPointer(
      start: message, count: strnlen(message, PAMMessages.longestText))
    guard channel.send(unsafe PAMReport.bytes(ofKind: kind, words: words)) else { return -1 }
    guard kind == .question else { return 0 }
    guard let typed = channel.receiveAnswer() else { return -1 }
    unsafe answer = typed.expose { bytes in
      unsafe bytes.withUnsafeBytes { unsafe cpam_answer($0.baseAddress, $0.count) }
    }
    return unsafe answer == nil ? -1 : 0
  }
}

/// Called by C for each message of a module.
func passMessage(
  context: UnsafeMutableRawPointer?, style: Int32, message: UnsafePointer<CChar>?,
  answer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  guard let context = unsafe context, let message = unsafe message, let answer = unsafe answer,
    let kind = kind(ofStyle: style)
  else { return -1 }
  let questions = unsafe Unmanaged<PAMQuestions>.fromOpaque(context).takeUnretainedValue()
  return unsafe questions.pass(kind, message: message, answer: &answer.pointee)
}

/// Answers are never shown while they are typed, even where the module asks with echo.
private func kind(ofStyle style: Int32) -> PAMReport.Kind? {
  switch style {
  case 1, 2: .question
  case 3: .error
  case 4: .text
  default: nil
  }
}
