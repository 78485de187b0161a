import Glibc

/// Lets so much time pass before a kill that no event chooses.
///
/// Only the kills of R1 and R5 that are to fall anywhere use it, with a number of the test's seed. Such a test asserts what must
/// hold after each kill, wherever it fell. Every other kill falls at an event.
package func passRandomMoment(microseconds: Int) { usleep(UInt32(microseconds)) }
