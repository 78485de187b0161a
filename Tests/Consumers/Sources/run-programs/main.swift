import Programs

for driver in Driver.all {
  try await driver.run()
  print("\(driver.name): passed")
}
