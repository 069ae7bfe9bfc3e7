/**
 * The id of a write that belongs to a trace names that trace too. The id is stored with the object, so every service that sees
 * the change, in any process, knows its origin.
 */
export function toWriteId(id: string, traceparent: string | undefined): string {
  return traceparent === undefined ? id : `${id} ${traceparent}`
}

/** The W3C `traceparent` of a write; absent: it belongs to no trace. */
export function traceparentOf(writeId: string): string | undefined {
  const space = writeId.indexOf(' ')
  return space < 0 ? undefined : writeId.slice(space + 1)
}
