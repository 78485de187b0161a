import Glibc

// vault-torture is the program that the torture tests start, kill and race. It is never installed.
//
// A test makes a vault, starts one or more of these processes and judges the vault afterwards. The first argument names
// a command; the second is the directory of the vault. A process prints a line for each acknowledged operation. Many
// wait until the test closes their standard input, so that they all start at the same moment. With `stop` as their last
// word, some wait in the middle of their work, where the test kills them or lets them go. Read in this order:
//
// - `Rig.swift`: ``Rig``, the vault of the test, and the functions that print and wait.
// - `Operations.swift` and `Codes.swift`: items and codes, killed at any moment.
// - `Passcodes.swift`, `Members.swift`, `Rotating.swift` and `Midway.swift`: races between changes of keys.
// - `EntryModel` and `EntryWalk`: a random walk over entries, and what it must leave.
// - `CardTokens.swift`: many processes that want one token.
// - `PINs.swift`: PINs that are tried, used and changed.
// - `Making`, `Changing` and `States` make vaults and print each state as a ``Content``. `Mutating` alters them with
//   ``Mutation`` and ``SQLMutation``, and ``Judge`` compares the content that still opens.
// - `Ciphers.swift`, `Midstates.swift`, `PINSecrets.swift`, `ClientKeys.swift` and ``Holding``: processes in whose memory the test looks for secrets.
// - `Opening.swift`: many processes that open or create one vault.
// - `Camouflaging.swift`: vaults with a camouflaged PIN, for the attack on it.
// - `Misbehaving.swift`: a process that hangs or grows, to test the tests.
let words = Array(CommandLine.arguments.dropFirst())

func argument(_ index: Int) -> String {
  guard index < words.count else { fail("argument \(index) is missing") }
  return words[index]
}

func number(_ index: Int) -> Int {
  guard let value = Int(argument(index)) else { fail("argument \(index) is not a number") }
  return value
}

switch words.first {
case "codes": Codes.run(Rig(argument(1)), name: argument(2), count: number(3))
case "submit": Submit.run(Rig(argument(1)), name: argument(2), code: argument(3))
case "take": TakingTokens.run(Rig(argument(1)), name: argument(2))
case "entries":
  EntryWalk.run(Rig(argument(1)), seed: UInt64(number(2)), from: number(3), through: number(4))
case "entries-at": EntryWalk.judge(Rig(argument(1)), seed: UInt64(number(2)), from: number(3))
case "update": Updating.run(Rig(argument(1)), key: argument(2), count: number(3))
case "operations": Operations.run(Rig(argument(1)), seed: UInt64(number(2)))
case "add": Adding.run(Rig(argument(1)), passcode: argument(2), seed: UInt64(number(3)))
case "keys": KeyChanges.run(Rig(argument(1)), argument(2), seed: UInt64(number(3)))
case "unlock":
  Unlocking.run(
    Rig(argument(1)), passcode: argument(2), tally: argument(3), stops: words.last == "stop")
case "phrase":
  Phrases.run(
    Rig(argument(1)), name: argument(2), phrase: argument(3), tally: argument(4),
    stops: words.last == "stop")
case "pin":
  PINs.run(
    Rig(argument(1)), name: argument(2), pin: argument(3), tally: argument(4), stops: words.last == "stop")
case "pin-codes": PINCodes.run(Rig(argument(1)), name: argument(2), pin: argument(3))
case "pin-change": PINChanges.run(Rig(argument(1)), name: argument(2), from: argument(3), to: argument(4))
case "members": MemberChanges.run(Rig(argument(1)), passcode: argument(2), seed: UInt64(number(3)))
case "make": Making.run(Rig(argument(1)), seed: UInt64(number(2)), passcode: argument(3), extra: number(4))
case "change": Changing.run(Rig(argument(1)), seed: UInt64(number(2)), passcode: argument(3))
case "mutate":
  Mutating.run(
    Rig(argument(1)), seed: UInt64(number(2)), passcode: argument(3), from: number(4), to: number(5))
case "states": States.run(Rig(argument(1)), passcode: argument(2))
case "hold": Holding.run(Rig(argument(1)), name: argument(2), isClosed: argument(3) == "closed")
case "rotate": Rotating.run(Rig(argument(1)), passcode: argument(2), stops: words.last == "stop")
case "rotate-counted":
  CountedRotation.run(Rig(argument(1)), purges: words.last == "purge", stops: words.last == "stop")
case "midway": Midway.run(in: Rig(argument(1)), change: argument(2), passcode: argument(3), code: argument(4))
case "watch":
  Watching.run(Rig(argument(1)), passcode: argument(2), count: number(3), seed: UInt64(number(4)))
case "open-or-create": Opening.run(Rig(argument(1)), name: argument(2))
case "camouflage":
  guard let planted = Camouflaging.Planted(rawValue: argument(5)) else { fail("no such fault to plant") }
  Camouflaging.run(
    in: argument(1), seed: UInt64(number(2)), numbers: number(3)..<number(4), planting: planted)
case "misbehave": Misbehaving.run(argument(1))
case "ciphers": Ciphers.run(Rig(argument(1)), passcode: argument(2), state: argument(3))
case "midstates": Midstates.run(Rig(argument(1)), key: argument(2), isClosed: argument(3) == "closed")
case "client-keys": ClientKeys.run(Rig(argument(1)), files: Array(words.dropFirst(2)))
case "pin-secrets": PINSecrets.run(Rig(argument(1)), passcode: argument(2), phrase: argument(3))
default: fail("no such command")
}
