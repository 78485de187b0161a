public import VaultKit

extension VaultError.Code {
  /// A source that is there does not work: a broken PAM module, a reader that was unplugged, a pinentry that answers
  /// nonsense. Always a denial.
  public static let verificationUnavailable = VaultError.Code(rawValue: "verificationUnavailable")
}
