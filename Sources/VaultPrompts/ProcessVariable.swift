import Glibc

/// An environment variable of this process.
func processVariable(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  return unsafe String(validatingCString: value)
}
