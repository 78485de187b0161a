import Testing

@Suite("VaultKitTests")
struct VaultKitTests {
}
