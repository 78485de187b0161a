import Testing

@Suite("TortureTests")
struct TortureTests {
}
