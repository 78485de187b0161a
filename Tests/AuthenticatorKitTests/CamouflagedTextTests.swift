import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Whoever knows that a key is text finds the PIN: only the right one gives text.
///
/// Verified to fail when tabs and line ends do not count as text: `Tests/Camouflage/attack.py` then finds the PIN.
@Suite("Keys that are text", .bounded)
struct CamouflagedTextTests {
  @Test(
    "a key of text is not put behind a camouflaged PIN",
    arguments: [
      "12345678901234567890", "12345678901234567890\n", "a key of\twords\r\n", "\n\n\n\n\n\n\n\n\n\n",
    ])
  func text(key: String) throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let uri = try rig.uri(Array(key.utf8))
    expect(.policy) { () throws(VaultError) in
      _ = try rig.core.addOTP(uri, named: "bank", pin: pin, context: rig.typing("8306"))
    }
    #expect(try rig.core.items(matching: Query(.otp)).isEmpty)
  }
}
