import Testing

@Suite("VaultCommandsTests")
struct VaultCommandsTests {
}
