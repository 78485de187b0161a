import SecretMemory
import VaultKit
import VaultTestKit

// vault-unlinked is a program of VaultKit alone, as somebody could write one who has no use for components. A test makes a vault with
// items of components, starts this with the directory of the vault, and reads what each call answered.

func answer(_ body: () throws(VaultError) -> Void) -> String {
  do throws(VaultError) {
    try body()
    return "done"
  } catch {
    return "\(error.code)"
  }
}

let folder = CommandLine.arguments[1]
let core = try VaultCore.open(
  at: folder + "/data/test.vault", protector: FileProtector(folder: folder + "/state"),
  environment: .testing(clock: SystemClock()))
for item in try core.items(matching: Query()) {
  var changes = ItemChanges()
  changes.attributes[.comment] = "changed"
  let answers = [
    answer { () throws(VaultError) in _ = try core.secret(of: item.id) },
    answer { () throws(VaultError) in _ = try core.update(item.id, changes) },
    answer { () throws(VaultError) in
      _ = try core.update(item.id, ItemChanges(), secret: SecretBytes(testing: "x"))
    },
    answer { () throws(VaultError) in try core.delete(item.id) },
  ]
  print(item.kind.rawValue, item.kind.rules.word, answers.joined(separator: " "))
}
print("all", answer { () throws(VaultError) in _ = try core.delete(.all) })
print(
  "backup",
  answer { () throws(VaultError) in
    _ = try core.backUp(to: folder + "/data/unlinked.backup", passphrase: Passcode(testing: "phrase"))
  })
print("rotate", answer { () throws(VaultError) in _ = try core.rotateEpoch() })
print("problems", try core.verify().problems.count)
