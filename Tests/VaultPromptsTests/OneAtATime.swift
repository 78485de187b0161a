import TestSupport
import Testing

/// One prompt of a process is open at a time, so that suites whose prompts are open for long do not run side by side.
@Suite("Prompts, one at a time", .bounded, .serialized)
struct OneAtATime {}
