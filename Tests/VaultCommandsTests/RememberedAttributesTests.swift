import Foundation
import TestSupport
import Testing

@Suite("A file system whose attributes the kernel remembers", .bounded)
struct RememberedAttributesTests {
  /// Verified to fail with the tool from before this test: `init` ended with 13, and the vault had "a second name" for as long as the
  /// kernel remembered it.
  @Test("a vault that is made there can be used at once")
  func made() throws {
    try needMounts("a file system of FUSE")
    if unsafe access("/dev/fuse", R_OK | W_OK) != 0 { try skip(.mounts, "a file system of FUSE") }
    let tool = try Tool()
    unsafe expect(mkdir(tool.home.path + "/mirror", 0o700), equals: 0)
    let script = """
      cd "$HOME"; T=$0; export VAULTCTL_PATH=$HOME/mirror/v.vault
      "$T" init --no-passcode > /dev/null 2>&1; echo "$?"
      printf pw | "$T" item add mail; "$T" item get mail; echo " $?"; "$T" vault check | tail -1
      """
    let server = Tool.repository.appendingPathComponent("Tests/FileSystems/remembering.py").path
    let run = try tool.run(
      ["-m", try Shell.need("python3"), server, tool.home.path + "/mirror", "sh", "-c", script, Tool.path],
      program: Shell.need("unshare"))
    expect(run.text, equals: "0\npw 0\neverything is sound\n", "\(run.errors)")
  }
}
