import TestSupport
import Testing

/// What is shipped waits 3.9 to 4.8 s for silence, and a test looks at those numbers. Where a test waits for a limit it sets a
/// quarter of it or less and allows 5 s: a missing limit takes 30 s or more, and a busy machine has time to spare.
/// One prompt of a process is open at a time: suites that measure how long theirs takes do not run side by side.
@Suite("Prompts, one at a time", .bounded, .serialized)
struct OneAtATime {}
