import Testing

@Suite("OneTimePasswordTests")
struct OneTimePasswordTests {
}
