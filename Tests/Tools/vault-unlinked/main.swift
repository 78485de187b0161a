import SecretMemory
import VaultKit
import VaultTestKit

// vault-unlinked is a program of VaultKit alone, as somebody could write one who has no use for components. A test makes a vault with
// items of components, starts this with the directory of the vault and with `delete` if it shall delete them, and reads what each call answered.

func answer(_ body: () throws(VaultError) -> Void) -> String {
  do throws(VaultError) {
    try body()
    return "done"
  } catch {
    return "\(error.code)"
  }
}

func change(_ item: Item, _ body: (inout Attributes) -> Void) -> String {
  var changes = ItemChanges()
  body(&changes.attributes)
  return answer { [changes] () throws(VaultError) in try core.update(item.id, changes) }
}

let folder = CommandLine.arguments[1]
let core = try VaultCore.open(
  at: folder + "/data/test.vault", protector: FileProtector(folder: folder + "/state"),
  environment: .testing(clock: SystemClock()))
let items = try core.items(matching: Query())
if CommandLine.arguments.dropFirst(2) == ["delete"] {
  for item in items {
    print(item.kind.rawValue, answer { () throws(VaultError) in try core.delete(item.id) })
  }
} else {
  for item in items {
    let answers = [
      answer { () throws(VaultError) in _ = try core.secret(of: item.id) },
      answer { () throws(VaultError) in
        _ = try core.update(item.id, ItemChanges(), secret: SecretBytes(testing: "x"))
      },
      change(item) { $0[.account] = "another account" },
      change(item) { $0[.name] = "renamed \(item.kind.rawValue)" },
    ]
    print(item.kind.rawValue, item.kind.rules.word, answers.joined(separator: " "))
  }
  print(
    "backup",
    answer { () throws(VaultError) in
      _ = try core.backUp(to: folder + "/data/unlinked.backup", passphrase: Passcode(testing: "phrase"))
    })
  print("rotate", answer { () throws(VaultError) in _ = try core.rotateEpoch() })
}
print("problems", try core.verify().problems.count)
