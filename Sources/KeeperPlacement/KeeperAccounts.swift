import Glibc

/// The two accounts of a keeper: that of the person whom it serves, and its own, which has no login.
///
/// | account | name |
/// |---|---|
/// | the person | as the machine has it |
/// | the keeper | `vaultd-UID`, with the user id of the person |
///
/// Each keeper has a user id of its own, so that one that is attacked reads no state of another.
struct KeeperAccounts {
  struct Account: Equatable {
    let name: String
    let user: uid_t
    let group: gid_t
  }

  let person: Account
  let keeper: Account

  /// - Parameter word: The name of the person, or the number.
  init(of word: String) throws(KeeperError) {
    guard let person = Self.account(named: word) ?? UInt32(word).flatMap(Self.account(of:)) else {
      throw .noPerson(word)
    }
    guard person.user != 0 else { throw .personIsRoot }
    let name = "vaultd-\(person.user)"
    guard let keeper = Self.account(named: name) else { throw .noAccount(name, person: person.user) }
    // The first account of a number is the one that the system shows.
    guard keeper.user != 0, keeper.user != person.user, Self.account(of: keeper.user) == keeper else {
      throw .sharedAccount(name, with: Self.account(of: keeper.user)?.name ?? "root")
    }
    (self.person, self.keeper) = (person, keeper)
  }

  static func user(named name: String) -> uid_t? { account(named: name)?.user }
  private static func account(named name: String) -> Account? { unsafe account(getpwnam(name)) }
  private static func account(of user: uid_t) -> Account? { unsafe account(getpwuid(user)) }

  private static func account(_ entry: UnsafeMutablePointer<passwd>?) -> Account? {
    guard let entry = unsafe entry?.pointee, let name = unsafe entry.pw_name else { return nil }
    return unsafe Account(name: String(cString: name), user: entry.pw_uid, group: entry.pw_gid)
  }
}
