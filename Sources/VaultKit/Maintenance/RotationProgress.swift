/// The progress of a call that may complete one rotation and then make another. It never goes back, whatever makes the steps begin
/// again.
struct RotationProgress {
  /// Whether the rest of an interrupted rotation comes first. It only moves items, which is the second half of a rotation.
  private let restFirst: Bool
  private var isInRest: Bool
  private var last = VerifyProgress(done: 0, total: 0)

  init(restFirst: Bool) {
    self.restFirst = restFirst
    isInRest = restFirst
  }

  /// The rest of the interrupted rotation is done.
  mutating func endRest() { isInRest = false }

  /// What to tell of this step of the present rotation.
  mutating func next(_ step: VerifyProgress) -> VerifyProgress {
    let half = step.total / 2
    let total = step.total + (restFirst ? half : 0)
    let done = restFirst ? (isInRest ? max(0, step.done - half) : half + step.done) : step.done
    // The number of items may have changed.
    let least =
      last.total > 0 ? Int((Double(last.done) / Double(last.total) * Double(total)).rounded(.up)) : 0
    last = VerifyProgress(done: min(max(done, least), total), total: total)
    return last
  }
}
