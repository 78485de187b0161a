import CPeers

/// Contenders that are run in turn, in one process, within milliseconds of each other: what disturbs one disturbs all.
struct Race {
  /// A short name, unique: `otp-one`.
  let id: String
  let title: String
  /// What one unit is: a code, a candidate, an item.
  let unit: String
  let contenders: [Contender]
  /// Peers that are not installed here.
  let absent: [String]
  /// Rounds and the length of a slice, if the default is not suitable.
  var rounds: Int?

  /// - Parameter contenders: Each with its name, for the case that it is absent. Ratios are to the first one.
  init(
    _ id: String, _ title: String, unit: String, rounds: Int? = nil,
    _ contenders: [(name: String, contender: Contender?)]
  ) {
    self.id = id
    self.title = title
    self.unit = unit
    self.rounds = rounds
    self.contenders = contenders.compactMap(\.contender)
    absent = contenders.filter { $0.contender == nil }.map(\.name)
  }

  /// Runs the race. The order changes with each round, so that no contender always follows the same one.
  func run(_ pace: Pace) -> Outcome {
    let counts = contenders.map { calibrated($0, pace.sliceNanoseconds) }
    let rounds = min(rounds ?? pace.rounds, pace.mostRounds)
    var samples = contenders.map { _ in [Double]() }
    for round in 0..<rounds {
      for turn in contenders.indices {
        let index = (turn + round) % contenders.count
        let start = peer_now_ns()
        contenders[index].run(counts[index])
        let time = peer_now_ns() - start
        samples[index].append(time / Double(counts[index]) / contenders[index].units)
      }
    }
    let readings = contenders.indices.map { index in
      Reading(
        name: contenders[index].name, samples: samples[index],
        allocations: allocations(contenders[index], counts[index]))
    }
    return Outcome(race: self, readings: readings)
  }

  /// How many runs fill a slice; finding this out is also the warm-up.
  private func calibrated(_ contender: Contender, _ slice: Double) -> Int {
    if contender.warmUp > 0 { contender.run(contender.warmUp) }
    var count = 1
    while true {
      let start = peer_now_ns()
      contender.run(count)
      let time = peer_now_ns() - start
      if time >= slice / 4 || count >= contender.most {
        return max(1, min(contender.most, Int(Double(count) * slice / max(time, 1))))
      }
      count = min(count * 4, contender.most)
    }
  }

  /// The count of one run, without the cost of counting. Counts many runs, so that a rare event shows as a fraction.
  private func allocations(_ contender: Contender, _ count: Int) -> Allocations {
    let count = max(1, min(count, 256))
    peer_count_start()
    contender.run(count)
    let counted = peer_count_stop()
    return Allocations(
      count: Double(counted.count) / Double(count), bytes: Double(counted.bytes) / Double(count))
  }
}

/// How many rounds, and how long each slice is.
struct Pace {
  let sliceNanoseconds: Double
  let rounds: Int
  let mostRounds: Int

  static let full = Pace(sliceNanoseconds: 4e6, rounds: 41, mostRounds: 1000)
  /// For counting: a few runs.
  static let counts = Pace(sliceNanoseconds: 2e5, rounds: 1, mostRounds: 1)
  static let quick = Pace(sliceNanoseconds: 1e6, rounds: 15, mostRounds: 60)
}

/// Calls of malloc and the bytes they asked for, in one run.
struct Allocations {
  let count: Double
  let bytes: Double
}

/// Nanoseconds of one unit, one sample a round.
struct Reading {
  let name: String
  let samples: [Double]
  let allocations: Allocations
}

/// The result of a race.
struct Outcome {
  let race: Race
  let readings: [Reading]
}
