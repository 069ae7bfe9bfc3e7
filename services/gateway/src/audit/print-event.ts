import { printJson } from '@orch/core/json'
import { type AuditEvent, PrintedObject } from './event.ts'

/** The JSON of an event, into which printed objects are copied. */
export function printAuditEvent(event: AuditEvent): Buffer {
  const { requestObject, responseObject } = event
  if (!(requestObject instanceof PrintedObject || responseObject instanceof PrintedObject)) return Buffer.from(print(event))
  const { requestReceivedTimestamp, stageTimestamp, annotations, requestObject: _request, responseObject: _response, ...front } = event
  const back = { requestReceivedTimestamp, stageTimestamp, ...(annotations === undefined ? {} : { annotations }) }
  const parts: Uint8Array[] = [Buffer.from(print(front).slice(0, -1))]
  for (const [name, object] of Object.entries({ requestObject, responseObject })) {
    if (object === undefined) continue
    parts.push(Buffer.from(`,"${name}":`), object instanceof PrintedObject ? object.json : Buffer.from(print(object)))
  }
  parts.push(Buffer.from(`,${print(back).slice(1)}`))
  return Buffer.concat(parts)
}

function print(value: unknown): string {
  return printJson(value, { hasBigIntegers: true })
}

/** Texts of events in pieces, each about as large as one turn of the event loop should print. */
export function* inPieces(events: readonly AuditEvent[], print: (event: AuditEvent) => Uint8Array): Generator<Buffer, void, undefined> {
  let texts: Uint8Array[] = []
  let bytes = 0
  for (const event of events) {
    const text = print(event)
    texts.push(text)
    bytes += text.length
    if (bytes < pieceBytes) continue
    yield Buffer.concat(texts, bytes)
    texts = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(texts, bytes)
}

/** Maximum characters of events printed in one turn. */
export const pieceBytes = 256 * 1024
