// What the examples of the documentation use and do not make. `scripts/docs` compiles them together with this file.
import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultPrompts

var vault: Vault { fatalError() }
var item: Item { fatalError() }
var other: Item { fatalError() }
var context: AuthenticationContext { fatalError() }
var terminal: TerminalPrompt { fatalError() }
var connection: Int32 { fatalError() }
func openConnection(_ password: RawSpan) { fatalError() }
func closeTheWindow() { fatalError() }

// Secrets: each use makes a new one.
var password: SecretBytes { fatalError() }
var secret: SecretBytes { fatalError() }
var token: SecretBytes { fatalError() }
var key: SecretBytes { fatalError() }
var code: SecretBytes { fatalError() }
var firstCode: SecretBytes { fatalError() }
var secondCode: SecretBytes { fatalError() }
var typed: SecretBytes { fatalError() }
var redirection: SecretBytes { fatalError() }

var counter: UInt64 { fatalError() }
var suite: OCRASuite { fatalError() }
var server: OCRAGenerator { fatalError() }
var clientChallenge: OCRAQuestion { fatalError() }
var serverChallenge: OCRAQuestion { fatalError() }
var payment: [UInt8] { fatalError() }

var transport: any Transport { fatalError() }
var pin: PINItem { fatalError() }
var uri: SecretBytes { fatalError() }
var credential: OTPCredential { fatalError() }
var clientKey: ClientKey { fatalError() }
var client: ClientRegistration { fatalError() }
var session: ViewingSession { fatalError() }
var order: CardChallengeRequest { fatalError() }
var lookup: CardLookup { fatalError() }
func toServer(_ token: borrowing SecretBytes) { fatalError() }
