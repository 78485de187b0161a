/// What opens a slot.
package enum SlotOpener: UInt8 { case deviceKey = 1, recovery, passphrase, base, prompt, member, any, unlock }
