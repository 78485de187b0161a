/// The one question that a helper may be asked: about one user, at one service.
///
/// Root gives it as an argument to the helper that it starts for a keeper, so the program that asks cannot name another user.
package struct PAMLimit: Sendable, Equatable {
  private let service: String
  private let user: String

  package init(service: String, user: String) { (self.service, self.user) = (service, user) }

  /// "vaultctl/alice": the name of a service has no slash.
  package var argument: String { service + "/" + user }

  /// nil for what ``argument`` cannot be.
  package init?(argument: String) {
    guard let slash = argument.firstIndex(of: "/") else { return nil }
    let (service, user) = (argument[..<slash], argument[argument.index(after: slash)...])
    guard !service.isEmpty, !user.isEmpty else { return nil }
    self.init(service: String(service), user: String(user))
  }

  /// Byte by byte: a string can equal another one of other bytes, which PAM takes for another name.
  package func allows(_ request: PAMRequest) -> Bool {
    request.service.utf8.elementsEqual(service.utf8) && request.user.utf8.elementsEqual(user.utf8)
  }
}
