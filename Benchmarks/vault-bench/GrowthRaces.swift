/// P15: the same calls on vaults of growing size. A race for each size; its id ends in the number of items.
struct GrowthRaces {
  let folder: String
  let sizes: [Int]

  var all: [Race] { sizes.map(race) }

  private func race(_ size: Int) -> Race {
    let place = folder + "/vault-\(size)"
    let vault = BenchmarkVault(in: place, count: size)
    return Race(
      "growth-\(size)", "A vault of \(size)", unit: "call", rounds: size > 100_000 ? 3 : 15,
      [
        ("open", .ours(BenchmarkVault.opening(place), most: 50, as: "open")),
        ("get", .ours(vault.getInSnapshot(), as: "get").warmed(min(size, 100_000))),
        ("list", .ours(vault.list(), units: Double(size + 2), most: 1, as: "list")),
        ("put", .ours(vault.put(), most: 1, as: "put")),
        ("HOTP", .ours(vault.hotp(), most: 1, as: "HOTP")),
      ])
  }
}
