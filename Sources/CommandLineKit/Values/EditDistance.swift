/// The number of characters to add, drop, change or exchange with their neighbor to make one text the other; only used for
/// suggestions.
package func editDistance(from left: String, to right: String) -> Int {
  let left = Array(left.utf8)
  let right = Array(right.utf8)
  guard left.count + 8 > right.count, right.count + 8 > left.count else { return .max }
  var before: [Int] = []
  var row = Array(0...right.count)
  for i in 0..<left.count {
    var next = [i + 1]
    for j in 0..<right.count {
      var least = min(row[j] + (left[i] == right[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1)
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        least = min(least, before[j - 1] + 1)
      }
      next.append(least)
    }
    (before, row) = (row, next)
  }
  return row[right.count]
}
