import Foundation
import TestSupport
import Testing

/// A user without the rights of root: the one that runs the tests or, if that is root, another one.
struct OrdinaryUser {
  /// What starts a program of this user; nothing if it is the one that runs the tests.
  let prefix: [String]
  /// `vaultctl-testing`, as this user starts it.
  let tool: [String]

  /// - Parameter folder: Belongs to this user afterwards, with all that is in it, and with a copy of the tool if its own place may
  ///   be hidden from this user.
  init(owning folder: String) throws {
    guard geteuid() == 0 else {
      (prefix, tool) = ([], [Built.path("vaultctl-testing")])
      return
    }
    prefix = [try Shell.need("setpriv"), "--reuid", Self.id, "--regid", Self.id, "--clear-groups"]
    let copy = folder + "/tool"
    // Another process makes it: a child that is started meanwhile would hold one of ours open for writing.
    try Command.run("cp", [Built.path("vaultctl-testing"), copy])
    try Command.run("chown", ["-R", "\(Self.id):\(Self.id)", folder])
    tool = prefix + [copy]
    try Command.run(tool[0], Array(tool.dropFirst()) + ["version"])
  }

  /// The one that stands for no user.
  private static let id = "65534"
}
