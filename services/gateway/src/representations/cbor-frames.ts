import { type ByteFields, cborEvent, jsonToCbor } from '@orch/core/cbor'
import { limits } from '../limits.ts'
import { printCbor } from '../texts/print-cbor.ts'
import type { TextThread } from '../texts/text-thread.ts'
import { eventIn, framesIn } from './event-frames.ts'

/** An event in JSON as the same event in CBOR. */
export function cborFrameOf(frame: Uint8Array, fields: ByteFields | undefined): Uint8Array {
  const { type, value } = eventIn(frame)
  return cborEvent(type, jsonToCbor(value, fields))
}

/** Like `cborFrameOf`, for many events or large ones: some in one turn of the event loop, and large ones in the thread of texts. */
export async function cborFramesInTurns(
  frames: Uint8Array,
  fields: ByteFields | undefined,
  texts: Pick<TextThread, 'do'> | undefined,
): Promise<Uint8Array> {
  const made: Uint8Array[] = []
  let bytes = 0
  for (const frame of framesIn(frames)) {
    const { type, value } = eventIn(frame)
    const printed = printCbor(texts, value, fields)
    made.push(cborEvent(type, printed instanceof Promise ? await printed : printed))
    if (!(printed instanceof Promise)) bytes += frame.length
    if (bytes < limits.cborBytesAtOnce) continue
    bytes = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  return Buffer.concat(made)
}
