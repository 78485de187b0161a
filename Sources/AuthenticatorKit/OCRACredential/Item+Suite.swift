import OneTimePassword
import SecretMemory
import VaultKit

extension Item {
  /// Whether its codes are for questions.
  var hasSuite: Bool { attributes[.otpType] == OCRAItem.type }

  /// What its codes are made of; `nil` for a credential without a suite.
  var suite: OCRASuite? {
    get throws(VaultError) { hasSuite ? try OCRAItem(self).suite : nil }
  }
}
