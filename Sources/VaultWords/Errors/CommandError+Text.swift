package import CommandLineKit
package import TextFormats

extension CommandError {
  /// A line of JSON that cannot be read.
  package init(_ error: TextError) {
    switch error {
    case .malformed(let why, let member):
      self = .unreadableLine(why + Self.place(member))
    case .member(let name, let why):
      self = .unreadableLine("\"\(printable(name))\" \(why)")
    case .tooLong(let limit, let member):
      let error = SecretReading.tooLong("secret", limit: limit)
      self = .malformed(error.message + Self.place(member), hint: error.hint)
    case .unreadable(let code):
      self = .io("reading the lines", errno: code)
    }
  }

  package static func unreadableLine(_ why: String) -> CommandError {
    .malformed("the line cannot be read: \(why)")
  }

  /// The name of a member is not secret; its value may be.
  private static func place(_ member: String?) -> String {
    member.map { " (in \"\(printable($0))\")" } ?? ""
  }
}
