/// Which factors make a code, in the numbers that authenticator servers use: 0 none, 1 the current PIN, 2 a new PIN, 8 a
/// biokey, 9 the current PIN or a biokey.
public struct PINFactors: OptionSet, Sendable, Hashable {
  /// The number.
  public let rawValue: Int
  /// The factors of a number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The PIN as it is now.
  public static let current = PINFactors(rawValue: 1)
  /// A PIN that is set in the same operation.
  public static let new = PINFactors(rawValue: 2)
  /// A biokey, which a biometric member opens.
  public static let biometric = PINFactors(rawValue: 8)

  /// What makes the codes of a credential that was activated with this mode. A PIN that was new then is the current one now.
  var ofCodes: PINFactors { contains(.new) ? subtracting(.new).union(.current) : self }
}
