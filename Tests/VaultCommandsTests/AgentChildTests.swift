import Foundation
import TestSupport
import Testing

/// The programs that verbs start, while the verbs run in an agent.
@Suite("Programs beside the agent", .bounded, .requirement("G15"))
struct AgentChildTests {
  @Test("the agent starts no program and has no child: each is started by the command")
  func none() throws {
    let home = try AgentHome()
    let log = home.tool.home.path + "/calls"
    let words = [
      "-f", "-qq", "-e", "trace=process", "-e", "signal=none", "-o", log, Built.path("vaultd-testing"),
    ]
    let agent = try Program(Shell.need("strace"), words, environment: home.tool.environment)
      .start(errors: .inherited)
    try waitUntil("an agent") { try home.tool("agent", "status").exit == 0 }
    try useAllPrograms(home)
    expect(0, try home.tool("lock"))
    expect(0, try home.tool("agent", "stop"))
    try expect(agent.wait(), equals: 0)
    let calls = try TracedCall.all(in: String(contentsOfFile: log, encoding: .utf8))
    expect(calls.filter { $0.name.hasPrefix("exec") }.count, equals: 1, "the start of the agent")
    expect(calls.filter { ["fork", "vfork"].contains($0.name) }.count, equals: 0)
    let made = calls.filter { $0.name.hasPrefix("clone") }
    #expect(!made.isEmpty && made.allSatisfy { $0.arguments.joined().contains("CLONE_THREAD") }, "\(made)")
  }

  /// Runs verbs that start programs, and expects that each program ran.
  private func useAllPrograms(_ home: AgentHome) throws {
    let tool = home.tool
    tool.environment["VAULTCTL_AGENT"] = "required"
    tool.environment["VAULTCTL_PINENTRY"] = try tool.program("pinentry", Self.pinentry)
    tool.environment["DISPLAY"] = ":9"
    try expect(tool("get", "mail", "--prompt", "pinentry").text, equals: "tok-1")
    let transport = try tool.program("transport", "#!/bin/sh\nexit 7\n")
    expect(
      16,
      try tool(
        "otp", "activate", "start", "bank", "--transport", transport, "--code-fd", "3", secrets: [3: "123456"]
      ),
      "ended with exit code 7")
    try expect(tool("run", "--env", "V=mail", "--", "sh", "-c", "printf %s \"$V\"").text, equals: "tok-1")
    try copy(tool)
  }

  /// The time of the clipboard is over when the test reads from the pipe.
  private func copy(_ tool: Tool) throws {
    let folder = URL(fileURLWithPath: try tool.program("xclip", Self.clipboard)).deletingLastPathComponent()
      .path
    tool.environment["PATH"] = folder + ":/usr/bin:/bin"
    let time = try NamedPipe(tool.home.path + "/time")
    tool.environment["VAULTCTL_TESTING_CLIPBOARD"] = time.path
    expect(0, try tool("get", "mail", "--copy", "90s"))
    try expect(String(contentsOfFile: folder + "/held", encoding: .utf8), equals: "tok-1")
    try expect(time.text(), equals: "90\n")
    try waitUntil("the clipboard is cleared") {
      try String(contentsOfFile: folder + "/held", encoding: .utf8).isEmpty
    }
  }

  private static let pinentry = """
    #!/bin/sh
    echo OK
    while read -r line; do
      case "$line" in GETPIN) echo 'D 1234'; echo OK;; BYE) exit;; *) echo OK;; esac
    done

    """

  private static let clipboard = """
    #!/bin/sh
    case "$*" in
      *-out*) cat "$HOME/held" ;;
      *) cat > "$HOME/new" && mv "$HOME/new" "$HOME/held" ;;
    esac

    """
}
