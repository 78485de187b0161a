/// The messages between a command and the agent, `vaultd`, in which its verb runs.
///
/// The two are the ends of a connection of SOCK_SEQPACKET. A message is one packet of 1 to ``longest`` bytes: its
/// type (u8), the number of its descriptors (u8), then fields. A field is a tag (u8), a byte count (u32) and the
/// bytes. All numbers are big-endian. A field comes once at most; a list is a field of byte counts (u32) and bytes.
///
/// | type | from | meaning |
/// |---|---|---|
/// | ``AgentPacket/Kind/run`` | command | once, first: the words of the command line; /dev/null three times |
/// | ``AgentPacket/Kind/begun`` | agent | once, first: the agent takes the request |
/// | ``AgentPacket/Kind/standard`` | command | once, after *begun*: descriptors 0, 1 and 2; the verb begins after this |
/// | ``AgentPacket/Kind/refused`` | agent | in place of *begun*, or after *standard* in place of everything else: nothing was done, the command does it by itself |
/// | ``AgentPacket/Kind/call`` | agent | something that only the command's process can do: a prompt, a file |
/// | ``AgentPacket/Kind/cancel`` | agent | the call that is open is no longer wanted: it is answered all the same |
/// | ``AgentPacket/Kind/reply`` | command | the answer to a call |
/// | ``AgentPacket/Kind/signal`` | command | a signal came that ends the command |
/// | ``AgentPacket/Kind/held`` | agent | the signal came too late to prevent the work, which is being completed |
/// | ``AgentPacket/Kind/ended`` | agent | once, last: how the verb ended |
///
/// A command that has not sent ``AgentPacket/Kind/standard`` knows that its verb has not begun, and that it never will: the agent runs nothing
/// without those descriptors. Until then the agent has no copy of them, so an agent that is stopped keeps no pipe of a command open.
///
/// The form of packets and fields, the first three fields of a request, its three descriptors, ``AgentPacket/Kind/refused`` and
/// ``AgentPacket/Kind/ended`` are the same in each protocol. So an agent of another version says which it is, and can be stopped.
///
/// The agent makes one call at a time. Every other packet is a fault, an ``AgentMessageError``, after which the receiver
/// closes the connection. A received packet is in secret memory, because a reply can be a passcode.
///
/// Read next: ``AgentPlace``, where the socket is; ``AgentSocket``, which sends and receives an ``AgentPacket``; then
/// ``AgentRun`` and ``AgentCall``, what the fields of a request and of a call are.
package enum AgentMessages {
  /// The most bytes of one message.
  package static let longest = 64 << 10
  /// Both ends speak the same protocol, or nothing is done.
  package static let protocolNumber: Int64 = 3
}
