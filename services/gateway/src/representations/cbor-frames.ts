import { type ByteFields, cborEvent, jsonToCbor } from '@orch/core/cbor'
import { limits } from '../limits.ts'
import type { TextThread } from '../texts/text-thread.ts'
import { eventIn, framesIn } from './event-frames.ts'

/** An event in JSON as the same event in CBOR. */
export function cborFrameOf(frame: Uint8Array, fields: ByteFields | undefined): Uint8Array {
  const { type, value } = eventIn(frame)
  return cborEvent(type, jsonToCbor(value, fields))
}

/** As `cborFrameOf`, of many events or large ones: some in one turn of the event loop, and large ones in the thread of texts. */
export async function cborFramesInTurns(
  frames: Uint8Array,
  fields: ByteFields | undefined,
  texts: Pick<TextThread, 'do'> | undefined,
): Promise<Uint8Array> {
  const made: Uint8Array[] = []
  let bytes = 0
  for (const frame of framesIn(frames)) {
    if (frame.length < limits.largeBytesMin || texts === undefined) {
      made.push(cborFrameOf(frame, fields))
      bytes += frame.length
    } else {
      const { type, value } = eventIn(frame)
      const object = await texts.do({ kind: 'printCbor', bytes: value, fields })
      if (object.kind !== 'bytes') throw new Error('no CBOR has been printed')
      made.push(cborEvent(type, object.bytes))
    }
    if (bytes < limits.cborBytesAtOnce) continue
    bytes = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  return Buffer.concat(made)
}
