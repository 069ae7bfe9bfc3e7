/** One of the streams of a connection: bytes in both directions, each of which ends by itself. */
export interface ByteChannel {
  /** The bytes of the client, until it ends them or the connection ends. */
  readonly input: AsyncIterableIterator<Uint8Array, undefined>
  /** Resolves when more may be written. After the end of the connection the bytes are dropped. */
  write(bytes: Uint8Array): Promise<void>
  /** Nothing more is written. */
  end(): void
}
