import VaultKeys
package import VaultFormat
import VaultCrypto
import VaultStorage

extension SealedStore {
  /// Checks, at every opening, that head row and header belong together and, in a small vault, that the rows are those
  /// that the head row counts. When file identity or witness say that the file is a copy or an older state, the rows
  /// are checked in a vault of any size.
  ///
  /// - Parameter checkingRows: `false` when the rows may be damaged, because the caller checks them itself.
  package mutating func checkFile(checkingRows: Bool = true) throws(VaultError) {
    isForRepair = !checkingRows
    let head = try head()
    guard try rows.hasFormer() == keys.header.keepsFormer else {
      throw VaultError(
        .damaged, "the table of former secrets is missing, or was added by something else",
        hint: .acceptDamage)
    }
    try keys.check(head)
    if let witness { ignoresWitness = !head.isBelievable(witness) }
    missingCommit = try missing(from: head)
    let isCopy = head.fileIdentity != 0 && head.fileIdentity != rows.fileIdentity || missingCommit != nil
    if checkingRows, isCopy || head.summedRows <= 1000 { try checkSum(head) }
    if isCopy, environment.move == .none { checkedAsCopy = head.summedRows }
  }

  /// Recomputes S and the counts over all rows: detects deleted, added and old rows.
  package mutating func checkSum(_ head: borrowing Head, progress: (Int) -> Void = { _ in })
    throws(VaultError)
  {
    let difference = try sumProblem(head, progress: progress).problem
    if let difference {
      throw VaultError(
        .damaged, difference, hint: .acceptDamage)
    }
  }

  /// What is wrong with the sum, in one line, or `nil`; and how many index rows were seen.
  package mutating func sumProblem(
    _ head: borrowing Head, progress: (Int) -> Void = { _ in }
  ) throws(VaultError) -> (problem: String?, blinds: Int) {
    var sum = Sum256()
    var (done, items, blinds) = (0, 0, 0)
    var isOrphan = false
    var last: Int64 = 0
    let current = keys.current
    let previous = keys.previous
    try rows.forEachSummed { row throws(VaultError) in
      done += 1
      if row.table == .item {
        items += 1
        last = row.row
      }
      blinds += row.table == .blind ? 1 : 0
      if done % 1024 == 0 { progress(done) }
      let keys = row.generation == current.generation ? current : previous
      guard let keys, keys.generation == row.generation else {
        isOrphan = true
        return
      }
      sum += keys.summand.value(row.table.rawValue, row.row, row.tags[...])
    }
    guard UInt64(items) == head.itemCount, UInt64(done) == head.summedRows else {
      return ("rows of the vault were added or deleted by something else", blinds)
    }
    // The next item would take the number of an existing row.
    guard last < head.nextRow else { return ("the vault's next row number is taken", blinds) }
    return (isOrphan || sum != head.sum ? "rows of the vault were exchanged for others" : nil, blinds)
  }
}
