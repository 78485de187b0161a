import Testing

@Suite("VaultStorageTests")
struct VaultStorageTests {
}
