import Testing

/// The limits are 4 to 4.8 s; a busy machine adds to them, so tests allow 15 s: a missing limit takes 30 s or more.
/// One prompt of a process is open at a time: suites that measure how long theirs takes do not run side by side.
@Suite("Prompts, one at a time", .serialized)
struct OneAtATime {}
