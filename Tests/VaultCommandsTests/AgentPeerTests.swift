import Foundation
import Glibc
import TestSupport
import Testing

/// The tests of the verbs with `--transport` again, with every command in an agent: what they expect is the same.
///
/// Left out: what moves the clock, which stands in the agent; what holds a derivation of one process; what damages the vault or asks no
/// server.
@Suite("A server at the command line, asked through the agent", .bounded, .requirement("G15"))
struct AgentPeerTests {
  /// A test of another suite.
  struct Again: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable () throws -> Void

    init(_ name: String, _ run: @escaping @Sendable () throws -> Void) {
      (testDescription, self.run) = (name, run)
    }
  }

  @Test("a command in the agent does the same", arguments: AgentPeerTests.all)
  func same(test: Again) throws {
    try Tool.$usesAgent.withValue(true) { try test.run() }
  }

  private static var all: [Again] { codes + activations + transactions + others }

  private static let codes: [Again] =
    [
      Again("codes without the server") { try SyncVerbTests().offlineCodes() },
      Again("the larger counter") { try SyncVerbTests().apart(type: "ocra") },
      Again("states") { try SyncVerbTests().states() },
      Again("a code at once") { try SyncVerbTests().onlineCode(type: "totp") },
      Again("a seal at once") { try SyncVerbTests().seal() },
      Again("Ctrl-C at a synchronization") { try SyncVerbTests().interrupted() },
      Again("a login") { try SyncVerbTests().login() },
    ]
    + ["half", "big", "exit1", "error:NETWORK"].map { fault in
      Again("a server that fails: \(fault)") { try SyncVerbTests().faults(fault: fault) }
    }
    + [("error:CODE", 3, false), ("lost", 16, false), ("member:synchronized=false", 17, true)].map {
      fault, exit, isPrinted in
      Again("a code at a server that fails: \(fault)") {
        try SyncVerbTests().outcomes(fault: fault, exit: exit, isPrinted: isPrinted)
      }
    }

  private static let activations: [Again] = [
    Again("an activation") { try ActivationVerbTests().life() },
    Again("wrong codes") { try ActivationVerbTests().wrongCodes() },
    Again("another transport") { try ActivationVerbTests().transports() },
    Again("bad answers") { try ActivationVerbTests().badAnswers() },
    Again("the end of a block") { try ActivationVerbTests().unlock() },
    Again("five wrong codes") { try ActivationVerbTests().fiveCodes() },
    Again("a new PIN") { try ActivationVerbTests().newPIN() },
    Again("the end of a credential") { try ActivationVerbTests().disable() },
    Again("Ctrl-C at prompts") { try ActivationVerbTests().cancelled() },
    Again("Ctrl-C at the server") { try ActivationVerbTests().cancelledAtServer(mode: "camouflaged") },
    Again("a locked vault") { try ActivationVerbTests().locked() },
  ]

  private static let transactions: [Again] = [
    Again("an accepted transaction") { try PeerTransactionVerbTests().accept() },
    Again("rejected transactions") { try PeerTransactionVerbTests().decline() },
    Again("wrong usage") { try PeerTransactionVerbTests().usage() },
    Again("a choice at a terminal") { try PeerTransactionVerbTests().choice() },
    Again("Ctrl-C at the PIN") { try PeerTransactionVerbTests().interrupted() },
    Again("Ctrl-C at two servers") { try PeerTransactionVerbTests().interruptedServer() },
    Again("a decision that was not told") { try PeerTransactionVerbTests().untold(fault: "lost") },
    Again("a decision that is refused") { try PeerTransactionVerbTests().refusedThere() },
    Again("out of step") { try PeerTransactionVerbTests().outOfStep() },
    Again("two servers") { try PeerTransactionVerbTests().twoServers() },
    Again("a push message") { try PeerTransactionVerbTests().pushed() },
    Again("broken answers") { try PeerTransactionVerbTests().broken() },
  ]

  private static let others: [Again] =
    [
      Again("a consent of a holder") { try CardTokenVerbTests().holder() },
      Again("a challenge that is over") { try CardTokenVerbTests().renewed() },
      Again("the fifth wrong code") { try CardTokenVerbTests().lastAttempt() },
      Again("an OAuth client") { try OAuthVerbTests().life() },
      Again("client credentials") { try OAuthVerbTests().credentials() },
      Again("a redirection") { try OAuthVerbTests().redirection() },
      Again("what an OAuth server refuses") { try OAuthVerbTests().refused() },
      Again("Ctrl-C at an OAuth server") { try OAuthVerbTests().interrupted() },
      Again("files that are no transports") { try TransportOptionTests().files() },
      Again("a hidden character in a path") { try TransportOptionTests().hiddenPath() },
      Again("paths of the kernel") { try TransportOptionTests().kernelPath() },
      Again("a code at a prompt") { try TransportOptionTests().prompt() },
    ]
    + [SIGINT, SIGTERM, SIGKILL].map { signal in
      Again("signal \(signal) at a transport") { try TransportOptionTests().interrupted(signal: signal) }
    }
    + [SIGINT, SIGTERM, SIGHUP, SIGQUIT].map { signal in
      Again("signal \(signal) at a script") { try TransportOptionTests().interruptedScript(signal: signal) }
    }
}
