import SecretMemory
import VaultKit
import VaultTestKit

/// Opens or creates the vault, adds an item to it, and prints a line for each (L8).
enum Opening {
  static func run(_ rig: Rig, name: String) {
    waitForStart()
    do throws(VaultError) {
      let (core, isNew) = try VaultCore.openOrCreate(
        at: rig.path, protector: rig.protector, environment: rig.environment)
      say("\(isNew ? "created" : "opened") \(try core.status().vault.hexadecimal)")
      _ = try core.add(NewItem(.genericPassword, name: name), secret: SecretBytes(testing: name))
      say("added \(name)")
    } catch { fail("open-or-create: \(error.word) \(error.message)") }
  }
}
