import SecretMemory
import VaultKit
import VaultTestKit

// vault-unlinked is a program of VaultKit alone, as somebody could write one who has no use for components. A test makes a vault with
// items of components, starts this with the directory of the vault and with words for what it shall do, and reads what each call
// answered. A number before the words moves both clocks of a FixedClock by so many seconds.

func answer(_ body: () throws(VaultError) -> Void) -> String {
  do throws(VaultError) {
    try body()
    return "done"
  } catch {
    return "\(error.code)"
  }
}

func change(_ item: Item, of core: VaultCore, _ body: (inout Attributes) -> Void) -> String {
  var changes = ItemChanges()
  body(&changes.attributes)
  return answer { [changes] () throws(VaultError) in try core.update(item.id, changes) }
}

/// Tries everything with each item but its deletion.
func useAll(of core: VaultCore, in folder: String) throws(VaultError) {
  for item in try core.items(matching: Query()) {
    let answers = [
      answer { () throws(VaultError) in _ = try core.secret(of: item.id) },
      answer { () throws(VaultError) in
        _ = try core.update(item.id, ItemChanges(), secret: SecretBytes(testing: "x"))
      },
      change(item, of: core) { $0[.account] = "another account" },
      change(item, of: core) { $0[.name] = "renamed \(item.kind.rawValue)" },
    ]
    print(item.kind.rawValue, item.kind.rules.word, answers.joined(separator: " "))
  }
  print("backup", backUp(core, in: folder))
  print("rotate", answer { () throws(VaultError) in _ = try core.rotateEpoch() })
}

func backUp(_ core: VaultCore, in folder: String) -> String {
  answer { () throws(VaultError) in
    _ = try core.backUp(to: folder + "/data/unlinked.backup", passphrase: Passcode(testing: "phrase"))
  }
}

/// Restores a backup in the place of the vault.
func restore(_ backup: String, in folder: String, environment: VaultEnvironment) throws {
  let (path, files) = (folder + "/data/test.vault", FileProtector(folder: folder + "/state"))
  let replacement = try VaultReplacement(
    of: path, by: BackupFile(reading: backup, beside: path), protector: files, oldProtector: files,
    environment: environment)
  _ = try replacement.run(passphrase: Passcode(testing: "phrase"), over: replacement.point())
}

var words = Array(CommandLine.arguments.dropFirst())
let folder = words.removeFirst()
var environment = VaultEnvironment.testing()
if let seconds = words.first.flatMap({ Int64($0) }) {
  words.removeFirst()
  let clock = FixedClock()
  clock.advance(by: .seconds(seconds))
  environment = .testing(clock: clock)
}
if words.first == "restore" { try restore(words[1], in: folder, environment: environment) }
let core = try VaultCore.open(
  at: folder + "/data/test.vault", protector: FileProtector(folder: folder + "/state"),
  environment: environment)
switch words.first {
case "delete" where words.count == 1:
  for item in try core.items(matching: Query()) {
    print(item.kind.rawValue, answer { () throws(VaultError) in try core.delete(item.id) })
  }
case "delete":
  let item = try core.item(named: words[1])
  print(answer { () throws(VaultError) in try core.delete(item.id) })
case "clear": print(answer { () throws(VaultError) in _ = try core.delete(.all) })
case "rename": try print(change(core.item(named: words[1]), of: core) { $0[.name] = words[2] })
case "add":
  print(answer { () throws(VaultError) in _ = try core.add(NewItem(.genericPassword, name: words[1])) })
case "backup": print(backUp(core, in: folder))
case "restore": print("restored")
default: try useAll(of: core, in: folder)
}
print("problems", try core.verify().problems.count)
