import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands

@Suite("Examples of the help", .bounded)
struct ExampleTests {
  /// What an example stands on; everything else begins with an empty vault.
  private static let setUp = """
    vaultctl init --no-passcode 2>/dev/null >/dev/null
    vaultctl add mail --generate 8
    printf %s 'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' > uri
    vaultctl otp add rfc < uri; vaultctl otp add door --role verifier < uri
    printf 12345678901234567890 > key
    vaultctl otp add bank --suite OCRA-1:HOTP-SHA256-8:QH64 --secret-format raw < key
    vaultctl otp add gate --role verifier --suite OCRA-1:HOTP-SHA1-6:QN08 --secret-format raw < key
    printf '%s\n' '{"kind":"password","name":"mail","secret":"x"}' > items.jsonl
    printf correct > old; printf better > new; printf 'a long phrase' > phrase
    printf 8306 > pin; printf 2749 > new-pin
    """

  @Test("every example of a verb runs, after what it needs")
  func examples() throws {
    let bash = try Shell.need("bash")
    let start = try Tool()
    try expect(
      start.run(["-o", "pipefail", "-c", Self.opening(start) + Self.setUp], program: bash).exit, equals: 0)
    var count = 0
    for (verb, example) in VerbTable.all.flatMap({ verb in verb.examples.map { (verb, $0) } }) {
      let tool = try Tool()
      var script = Self.opening(tool)
      // A copy of a vault gives no codes.
      let isCopy = verb.name != "code"
      if verb.name != "init" { script += isCopy ? "cp -a '\(start.home.path)'/. .\n" : Self.setUp + "\n" }
      script += Self.preparation(of: verb)
      let run = try tool.run(["-o", "pipefail", "-c", script + example], program: bash)
      // There is nothing to confirm and no root to decide, and no keeper serves the tests.
      let expected: Int32 =
        ["otp confirm", "keeper settle"].contains(verb.name) ? 9 : verb.words.first == "keeper" ? 13 : 0
      expect(run.exit, equals: expected, "\(example): \(run.exit) \(run.errors)")
      count += 1
    }
    #expect(count >= 30)
  }

  /// Goes to the home, in which the tool has its own name.
  private static func opening(_ tool: Tool) -> String {
    """
    set -e; umask 077; cd '\(tool.home.path)'
    ln -sf '\(Tool.path)' vaultctl; PATH=$PWD:$PATH

    """
  }

  /// A server with the user `work`, and its activation code.
  private static let activation = """
    PEERS='\(Tool.repository.path)/Tests/Peers'; export VAULT_TEST_PEER="$HOME/peer"; mkdir peer
    printf '#!/bin/sh\nexec "%s/peer"\n' "$PEERS" > transport; chmod 700 transport
    $PEERS/control add-user work $MODE > code

    """

  /// A server with the user `work`, and what comes before the step of the example.
  private static func server(for verb: any VaultVerb.Type) -> String {
    let isAboutTransactions =
      verb.words.first == "transaction" && !["sign", "verify"].contains(verb.words[1])
    guard verb.words.starts(with: ["otp", "activate"]) || verb.name == "otp sync" || isAboutTransactions
    else {
      return ""
    }
    let hasPIN = ["otp activate finish", "transaction accept"].contains(verb.name)
    var script = hasPIN ? "MODE='--pin-mode 1'\n" : ""
    script += activation
    guard verb.name != "otp activate start" else { return script }
    script += "vaultctl otp activate start work --transport ~/transport --code-file code\n"
    script += "$PEERS/control second-code work > code\n"
    guard isAboutTransactions || ["otp activate disable", "otp sync"].contains(verb.name) else {
      return script
    }
    script += "vaultctl otp activate finish work --transport ~/transport --code-file code"
    script += hasPIN ? " --pin-mode checked --pin-file pin\n" : "\n"
    guard isAboutTransactions else { return script }
    script += "$PEERS/control push work --alias pay-1 --context 'Pay 12 EUR to Anna'\n"
    return script + "vaultctl transaction list --transport ~/transport\n"
  }

  /// A card token, a session, or a system of cards with a consent that waits.
  private static func cards(for verb: any VaultVerb.Type) -> String {
    switch verb.name {
    case "card get", "card revoke": return "printf %s tok-71c9e0 | vaultctl card put card --ttl 90s\n"
    case "card session close": return "vaultctl card session open > session\n"
    case "card consent request", "card consent confirm", "card consent resend": break
    default: return ""
    }
    let system = """
      PEERS='\(Tool.repository.path)/Tests/Peers'; export VAULT_TEST_PEER="$HOME/peer"; mkdir peer
      printf '#!/bin/sh\nexec "%s/peer"\n' "$PEERS" > transport; chmod 700 transport
      $PEERS/control add-holder u-17 c-4

      """
    guard verb.name != "card consent request" else { return system }
    return system + """
      vaultctl card consent request view --user u-17 --card c-4 --transport ~/transport
      $PEERS/control consent-code u-17 > code

      """
  }

  /// An OAuth server as the transport `as`, and what comes before the step of the example.
  private static func clients(for verb: any VaultVerb.Type) -> String {
    guard verb.words.first == "oauth" else { return "" }
    let peers = Tool.repository.path + "/Tests/Peers"
    var script = """
      mkdir state; printf '#!/bin/sh\nexec "%s/authorization-server" "$HOME/state"\n' '\(peers)' > as; chmod 700 as
      vaultctl key generate k1

      """
    guard verb.name != "oauth register" else { return script }
    script += "SERVER='--url https://as.example --transport '$HOME/as\n"
    script += "vaultctl oauth register job --template t2 $SERVER\n"
    script += "vaultctl oauth register shop --template t1 --redirect-uri https://shop.example/back $SERVER\n"
    guard verb.name != "oauth token" else { return script }
    return script + """
      printf code-71c9 > code
      vaultctl oauth token shop --grant authorization_code --code-fd 3 --transport ~/as 3<code

      """
  }

  /// An agent, which ends with the script, and what comes before the step of the example.
  private static func agent(for verb: any VaultVerb.Type) -> String {
    var script = """
      export XDG_RUNTIME_DIR=$(mktemp -d /tmp/agent-XXXXXX)
      trap 'vaultctl agent stop; rm -r "$XDG_RUNTIME_DIR"' EXIT

      """
    if verb.name != "agent start" { script += "vaultctl agent start\n" }
    guard verb.name == "unlock" else { return script }
    script += "cp old passcode; vaultctl passcode set --new-passcode-file passcode\n"
    return script
  }

  /// Items that the example of a verb takes away, brings back or restores.
  private static func items(for verb: any VaultVerb.Type) -> String {
    var script = ""
    if ["add", "otp add"].contains(verb.name) {
      script += "vaultctl rm \(verb.words[0] == "otp" ? "rfc" : "mail")\n"
    }
    if verb.name == "undo" {
      script += "vaultctl edit mail --generate 8\n"
    }
    if verb.words.first == "trash" {
      script += "vaultctl add old --generate 8; vaultctl rm old\n"
    }
    return script
  }

  /// What the example of a verb needs besides the set-up of all.
  private static func preparation(of verb: any VaultVerb.Type) -> String {
    var script = items(for: verb)
    if verb.name == "init" { script += "printf 'correct horse battery' > pass\n" }
    if verb.words.first == "passcode", verb.words[1] != "set" {
      script += "vaultctl passcode set --new-passcode-file old\n"
    }
    if ["key", "jwt"].contains(verb.words.first), verb.name != "key generate" {
      script += "vaultctl key generate shop\n"
    }
    if verb.name == "key import" {
      script += "cp '\(Tool.repository.path)/Tests/Vectors/key-files/p256.chain.p12' tls.p12\n"
      script += "printf 'correct horse' > phrase\n"
    }
    if verb.words.first == "biometry" {
      script += "vaultctl passcode set --new-passcode-file old\n"
    }
    if verb.name == "biometry remove" || verb.words.dropFirst().first == "biokey" {
      script += "vaultctl biometry enroll voice --passcode-file old --phrase-file phrase\n"
    }
    if verb.words.dropFirst().first == "biokey" {
      script += "vaultctl pin set --new-pin-file pin --passcode-file old\n"
    }
    if verb.words.first == "pin" {
      script +=
        "vaultctl pin set --new-pin-file pin --unlock-key-out unlock-key; vaultctl pin set --mode camouflaged\n"
    }
    if verb.name == "pin undo" {
      script += "vaultctl pin change pin-camouflaged --pin-file pin --new-pin-file new-pin\n"
    }
    if ["unlock", "lock", "agent"].contains(verb.words[0]) { script += agent(for: verb) }
    if verb.name == "vault rotate parameters" { script += "vaultctl passcode set --new-passcode-file old\n" }
    script += server(for: verb) + cards(for: verb) + clients(for: verb)
    if ["recovery-code verify", "recovery-code remove"].contains(verb.name) {
      script += "vaultctl recovery-code new --out code\n"
    }
    if verb.name == "export" { script += "rm items.jsonl\n" }
    if verb.name == "restore" { script += "vaultctl backup monday.vault --passphrase-file phrase\n" }
    return script
  }
}
