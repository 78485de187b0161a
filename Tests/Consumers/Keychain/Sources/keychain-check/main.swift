import Keychain

// The second time, the token of the first time is there.
for expected in [nil, 7] {
  let store = try await TokenStore(service: "app", path: CommandLine.arguments[1] + "/app.vault")
  let found = try await store.withToken("session") { $0.count }
  guard found == expected else { fatalError("the token has \(found ?? 0) bytes") }
  try await store.set("session", Array("a token".utf8).span)
}
print("a token is kept")
