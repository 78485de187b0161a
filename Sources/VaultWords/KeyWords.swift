/// What people read in place of a key of JSON: `thisDeviceOnly` is *only on this device*, `readOnly` is *read-only*.
///
/// A key that has no words of its own is taken apart at its capital letters.
package func wording(ofKey key: String) -> String {
  if let wording = keyWords[key] { return wording }
  return key.reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
}

private let keyWords = [
  "thisDeviceOnly": "only on this device",
  "hasSecret": "has a secret",
  "needsResync": "needs synchronization",
  "pinMode": "a code needs",
  "pinBlocked": "PIN blocked",
  "readOnly": "read-only",
  "ownState": "own state",
  "passcodeFailures": "wrong passcodes",
  "pamHelper": "PAM helper",
  "pam": "PAM",
]
