import Testing

@Suite("VaultCryptoTests")
struct VaultCryptoTests {
}
