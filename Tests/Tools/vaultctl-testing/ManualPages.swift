import CommandLineKit
import Glibc
import VaultCommands

/// `vaultctl-testing generate-man FOLDER`: what scripts/generate-man calls.
func writeManualPages() -> Never {
  guard CommandLine.arguments.count == 3 else { fatalError("usage: vaultctl-testing generate-man FOLDER") }
  for page in ManPages(of: VerbTable.program).all {
    let path = CommandLine.arguments[2] + "/" + page.name
    guard let file = unsafe fopen(path, "w") else { fatalError("cannot write \(path)") }
    unsafe fputs(page.text, file)
    guard unsafe fclose(file) == 0 else { fatalError("cannot write \(path)") }
  }
  exit(0)
}
