/**
 * The id of a traced write includes its trace. It is stored with the object, so that every service that sees
 * the change, in any process, knows the trace.
 */
export function toWriteId(id: string, traceparent: string | undefined): string {
  return traceparent === undefined ? id : `${id} ${traceparent}`
}

/** The W3C `traceparent` in a write id; undefined without a trace. */
export function traceparentOf(writeId: string): string | undefined {
  const space = writeId.indexOf(' ')
  return space < 0 ? undefined : writeId.slice(space + 1)
}
