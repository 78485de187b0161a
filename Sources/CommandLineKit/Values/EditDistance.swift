/// The number of characters to add, drop or change to make one text the other; only used for suggestions.
package func editDistance(from left: String, to right: String) -> Int {
  let left = Array(left.utf8)
  let right = Array(right.utf8)
  guard left.count + 8 > right.count, right.count + 8 > left.count else { return .max }
  var row = Array(0...right.count)
  for (i, byte) in left.enumerated() {
    var diagonal = row[0]
    row[0] = i + 1
    for (j, other) in right.enumerated() {
      let changed = diagonal + (byte == other ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
    }
  }
  return row[right.count]
}
