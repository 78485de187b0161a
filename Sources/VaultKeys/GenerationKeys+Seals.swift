import SecretMemory
package import VaultCrypto
package import VaultFormat
package import VaultStorage

/// The seals of rows under the keys of one generation, each with its associated data (sections 4, 7 to 9). Here, errors
/// of the ciphers become errors of a vault.
extension GenerationKeys {
  /// The generation whose keys made a seal.
  ///
  /// - Throws: ``VaultError/Code/newerFormat`` for a seal that this version does not know, ``VaultError/Code/damaged``
  ///   for bytes that are not a seal.
  package static func generation(of sealed: [UInt8]) throws(VaultError) -> UInt32 {
    do throws(CryptoError) { return try RecordSeal.generation(of: sealed) } catch {
      throw VaultError(crypto: error)
    }
  }

  // MARK: States

  package func openState(_ row: StateRow, of item: Bytes16, in vault: VaultID) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.state(vault, item: item, revision: row.revision)
    do throws(CryptoError) { return try state.open(row.body, aad: aad) } catch {
      throw VaultError(crypto: error)
    }
  }

  /// Opens a state into `content`, whose memory is used again, for lists of many.
  package func openState(
    _ sealed: RawSpan, revision: UInt64, of item: Bytes16, in vault: VaultID, into content: inout ItemState
  ) throws(VaultError) {
    try AssociatedData.withState(vault, item: item, revision: revision, sealed, openedWith: state) {
      (bytes) throws(VaultError) in
      try content.replace(by: bytes)
    }
  }

  package func sealState(
    _ bytes: [UInt8], of item: Bytes16, revision: UInt64, in vault: VaultID, random: any RandomSource
  ) throws(VaultError) -> StateRow {
    let aad = AssociatedData.state(vault, item: item, revision: revision)
    do throws(CryptoError) {
      return StateRow(revision: revision, body: try state.seal(bytes, aad: aad, random: random))
    } catch { throw VaultError(crypto: error) }
  }

  // MARK: The head row

  package func openHead(_ body: [UInt8], in vault: VaultID) throws(VaultError) -> Head {
    let content: SecretBytes
    do throws(CryptoError) { content = try head.openSecret(body, aad: AssociatedData.head(vault)) } catch {
      throw VaultError(crypto: error)
    }
    return try Head(decoding: content)
  }

  package func sealHead(
    _ content: borrowing Head, in vault: VaultID, random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    do throws(CryptoError) {
      return try head.seal(content.encoded, aad: AssociatedData.head(vault), random: random)
    } catch { throw VaultError(crypto: error) }
  }

  // MARK: The audit log

  package func openEntry(_ row: AuditRow, in vault: VaultID) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.audit(vault, sequence: row.sequence)
    do throws(CryptoError) { return try audit.open(row.body, aad: aad) } catch {
      throw VaultError(crypto: error)
    }
  }

  package func sealEntry(
    _ record: [UInt8], sequence: UInt64, in vault: VaultID, random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.audit(vault, sequence: sequence)
    do throws(CryptoError) { return try audit.seal(record, aad: aad, random: random) } catch {
      throw VaultError(crypto: error)
    }
  }

  // MARK: Attributes and policy

  package func sealMeta(
    _ content: [UInt8], of row: ItemRow, in vault: VaultID, random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.meta(vault, row)
    do throws(CryptoError) { return try meta.seal(content, aad: aad, random: random) } catch {
      throw VaultError(crypto: error)
    }
  }

  // MARK: Former secrets

  package func openFormer(_ sealed: [UInt8], version: UInt64, of item: Bytes16, in vault: VaultID)
    throws(VaultError) -> [UInt8]
  {
    let aad = AssociatedData.former(vault, item: item, version: version)
    do throws(CryptoError) { return try meta.open(sealed, aad: aad) } catch {
      throw VaultError(crypto: error)
    }
  }

  package func sealFormer(
    _ content: [UInt8], version: UInt64, of item: Bytes16, in vault: VaultID, random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.former(vault, item: item, version: version)
    do throws(CryptoError) { return try meta.seal(content, aad: aad, random: random) } catch {
      throw VaultError(crypto: error)
    }
  }

  // MARK: The enrolled set

  package func openEnrolled(_ sealed: [UInt8], in vault: VaultID) throws(VaultError) -> [UInt8] {
    do throws(CryptoError) { return try meta.open(sealed, aad: AssociatedData.enrolled(vault)) } catch {
      throw VaultError(crypto: error)
    }
  }

  package func sealEnrolled(
    _ content: [UInt8], in vault: VaultID, random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    do throws(CryptoError) {
      return try meta.seal(content, aad: AssociatedData.enrolled(vault), random: random)
    } catch { throw VaultError(crypto: error) }
  }
}
