/// What the lookup of a card says about 3-D Secure, word for word as the server of the merchant got it.
public struct CardLookup: Sendable, Equatable {
  /// The version of 3-D Secure of the card (`ThreeDSVersion`), such as `2.2.0`.
  public let version: String
  /// Whether the card is enrolled (`Enrolled`): `Y`, `N`, `U` or `B`.
  public let enrolled: String
  /// The status of the transaction (`PAResStatus`): `C` asks for a challenge.
  public let status: String

  /// The result of a lookup.
  public init(version: String, enrolled: String, status: String) {
    (self.version, self.enrolled, self.status) = (version, enrolled, status)
  }

  /// Whether a challenge is begun: for version 2.x, `Y` and `C` alone, in these very letters.
  public var asksForChallenge: Bool {
    let parts = version.split(separator: ".", omittingEmptySubsequences: false)
    return 2...4 ~= parts.count && parts[0] == "2" && parts.allSatisfy(Self.isNumber)
      && enrolled.utf8.elementsEqual("Y".utf8) && status.utf8.elementsEqual("C".utf8)
  }

  private static func isNumber(_ text: Substring) -> Bool {
    1...3 ~= text.utf8.count && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
  }
}
