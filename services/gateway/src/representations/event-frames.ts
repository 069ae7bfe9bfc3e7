const eventTypes = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const
const newline = 0x0a

/** The kind of an event. */
export type EventType = (typeof eventTypes)[number]

/** The text of an event after its object. */
export const frameBack = Buffer.from('}\n')

/** The text of an event before its object. */
export function frontOf(type: EventType): string {
  return `{"type":"${type}","object":`
}

/** Events from watch, one by one. */
export function* framesIn(frames: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let start = 0; start < frames.length; ) {
    const end = frames.indexOf(newline, start) + 1
    yield frames.subarray(start, end)
    start = end
  }
}

/** The type and the object of an event. */
export function eventIn(frame: Uint8Array): { readonly type: EventType; readonly value: Uint8Array } {
  const type = eventTypes.find((one) => isTypeOf(one, frame)) ?? 'MODIFIED'
  return { type, value: frame.subarray(frontOf(type).length, -frameBack.length) }
}

function isTypeOf(type: EventType, frame: Uint8Array): boolean {
  return frame[frontOf('ADDED').indexOf('A')] === type.charCodeAt(0)
}
