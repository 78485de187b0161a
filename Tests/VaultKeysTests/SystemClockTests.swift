import Glibc
import TestSupport
import Testing
import VaultKeys

@Suite("Clocks of the machine", .bounded)
struct SystemClockTests {
  // Fails when the first answer is kept whatever it was: tokens and delays of this process would have no boot for good.
  @Test("a boot id that could not be read once is read the next time")
  func readLater() async {
    await #expect(processExitsWith: .success) {
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var limit = rlimit()
      unsafe getrlimit(files, &limit)
      let most = limit.rlim_cur
      limit.rlim_cur = 0
      unsafe setrlimit(files, &limit)
      let refused = SystemClock().bootID()
      limit.rlim_cur = most
      unsafe setrlimit(files, &limit)
      precondition(refused == nil)
      let first = SystemClock().bootID()
      precondition(first?.count == 16 && SystemClock().bootID() == first)
    }
  }
}
