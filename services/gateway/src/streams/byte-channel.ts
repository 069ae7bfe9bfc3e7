/** One stream of a connection: bytes in both directions, each of which ends separately. */
export interface ByteChannel {
  /** The bytes of the client, until it ends its direction or the connection ends. */
  readonly input: AsyncIterableIterator<Uint8Array, undefined>
  /** Resolves when both directions have ended. */
  readonly closed: Promise<void>
  /** Resolves when more may be written. After the end of the connection the bytes are dropped. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends the output. */
  end(): void
}
