import Testing

@Suite("LayeringTests")
struct LayeringTests {
}
