import Testing

@Suite("SecretMemoryTests")
struct SecretMemoryTests {
}
