import CPeers
import Glibc

// Times what is measured within one process. `scripts/bench` calls it; by hand:
//   vault-bench [--quick | --counts] [--folder FOLDER] [--sizes N,N] [--race ID] [SUBJECT…]
// Results are lines of JSON on standard output, a summary for people on standard error.
var arguments = Arguments(words: Array(CommandLine.arguments.dropFirst()))
let isCounting = arguments.flag("--counts")
let pace: Pace = isCounting ? .counts : arguments.flag("--quick") ? .quick : .full
let folder = arguments.option("--folder") ?? "."
let sizes = (arguments.option("--sizes") ?? "100000").split(separator: ",").compactMap { Int($0) }
let only = arguments.option("--race")
let subjects: [(name: String, races: () -> [Race])] = [
  ("otp", { OTPRaces.all }),
  ("seal", { SealRaces.all }),
  ("kdf", { KeyRaces.derivation }),
  ("signatures", { KeyRaces.signatures }),
  ("store", { StoreRaces(folder: folder, sizes: sizes).all }),
  ("pin", { PINRaces(folder: folder).all }),
  ("transactions", { TransactionRaces(folder: folder).all }),
  ("growth", { GrowthRaces(folder: folder, sizes: sizes).all }),
]
let wanted = arguments.words
let rest = Array(wanted.dropFirst())
switch wanted.first {
case "make": Commands.make(rest)
case "make-pins": Commands.makePINs(rest)
case "make-transactions": Commands.makeTransactions(rest)
case "pin-counts": PINRaces(folder: folder).count()
case "transaction-counts": TransactionRaces(folder: folder).countWork()
case "write": Commands.write(rest, in: folder)
case "trace": Commands.trace(rest, in: folder)
default:
  for word in wanted where !subjects.contains(where: { $0.name == word }) {
    Report.note(
      "vault-bench: no subject '\(word)'; there are \(subjects.map(\.name).joined(separator: ", "))")
    exit(2)
  }
  for subject in subjects where wanted.contains(subject.name) || (wanted.isEmpty && subject.name != "growth")
  {
    for race in subject.races() where only == nil || race.id == only {
      let outcome = race.run(pace)
      Report.summary(outcome)
      print(Report.line(outcome))
      fflush(nil)
    }
  }
}
