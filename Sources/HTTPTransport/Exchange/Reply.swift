import SecretMemory
import TextFormats

/// The reply of a server.
struct Reply {
  let status: Int
  /// Lines of `name: value`, with names in lower case.
  let headers: SharedSecret
  let body: SharedSecret
  /// Whether the server said where the body ends.
  let hasLength: Bool
  /// Where it is redirected to.
  let redirection: String?
}
