import VaultFuzzing

/// The entry of libFuzzer. A fault ends the process, and libFuzzer keeps the bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
  let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  if let fault = FuzzedText.tokenAnswer.fault(of: input) { fatalError(fault) }
  return 0
}
