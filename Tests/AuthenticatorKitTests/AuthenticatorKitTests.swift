import Testing

@Suite("AuthenticatorKitTests")
struct AuthenticatorKitTests {
}
