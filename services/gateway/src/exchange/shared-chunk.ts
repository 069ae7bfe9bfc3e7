const chunks = new WeakMap<Uint8Array, Uint8Array>()
const lineEnd = '\r\n'

/**
 * Bytes as one chunk of HTTP/1.1's chunked coding. It is made once for all exchanges that are given these bytes, and goes to each
 * socket in one write: `ServerResponse.write` makes four of it, and joins them again for each client.
 */
export function chunkOf(bytes: Uint8Array): Uint8Array {
  const known = chunks.get(bytes)
  if (known !== undefined) return known
  const front = bytes.length.toString(16) + lineEnd
  const chunk = Buffer.allocUnsafe(front.length + bytes.length + lineEnd.length)
  chunk.write(front, 'latin1')
  chunk.set(bytes, front.length)
  chunk.write(lineEnd, front.length + bytes.length, 'latin1')
  chunks.set(bytes, chunk)
  return chunk
}
