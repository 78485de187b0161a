import Glibc
import VaultFuzzing

/// The reader that FUZZED_TEXT names.
private let text: FuzzedText = {
  guard let name = unsafe getenv("FUZZED_TEXT"), let text = unsafe FuzzedText(rawValue: String(cString: name))
  else {
    fatalError("vault-fuzz: FUZZED_TEXT must be one of \(FuzzedText.allCases.map(\.rawValue))")
  }
  return text
}()

/// The entry of libFuzzer. A fault ends the process, and libFuzzer keeps the bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
  let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  if let fault = text.fault(of: input) { fatalError(fault) }
  return 0
}
