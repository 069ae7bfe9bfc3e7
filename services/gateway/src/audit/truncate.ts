import { setImmediate } from 'node:timers/promises'
import type { AuditEvent } from './event.ts'
import { pieceBytes, printAuditEvent } from './print-event.ts'
import type { AuditDelivery } from './sink.ts'

/** Bounds of a backend's events, in bytes of JSON. */
export interface TruncateOptions {
  readonly eventBytesMax: number
  readonly batchBytesMax: number
  /** Annotation of an event whose bodies were left out. */
  readonly truncatedKey: string
  /** Called with the number of events that are too large even without their bodies. */
  readonly onLost: (count: number) => void
}

/** Limits the size of events and batches of a delivery: large events lose their bodies, large batches are divided. */
export function truncating(
  delivery: AuditDelivery,
  { eventBytesMax, batchBytesMax, truncatedKey, onLost }: TruncateOptions,
): AuditDelivery {
  const fitted = (event: AuditEvent): { event: AuditEvent; bytes: number } | undefined => {
    const bytes = sizeOf(event)
    if (bytes <= eventBytesMax) return { event, bytes }
    const { requestObject: _request, responseObject: _response, annotations, ...rest } = event
    const short = { ...rest, annotations: { ...annotations, [truncatedKey]: 'true' } }
    const shortBytes = sizeOf(short)
    return shortBytes <= eventBytesMax ? { event: short, bytes: shortBytes } : undefined
  }
  return {
    name: delivery.name,
    async deliver(events) {
      let batch: AuditEvent[] = []
      let batchBytes = 0
      let turnBytes = 0
      for (const one of events) {
        if (turnBytes >= pieceBytes) {
          await setImmediate()
          turnBytes = 0
        }
        const fit = fitted(one)
        turnBytes += fit?.bytes ?? eventBytesMax
        if (fit === undefined) {
          onLost(1)
          continue
        }
        if (batch.length > 0 && batchBytes + fit.bytes > batchBytesMax) {
          await delivery.deliver(batch)
          batch = []
          batchBytes = 0
        }
        batch.push(fit.event)
        batchBytes += fit.bytes
      }
      if (batch.length > 0) await delivery.deliver(batch)
    },
    close: () => delivery.close(),
  }
}

function sizeOf(event: AuditEvent): number {
  return printAuditEvent(event).length
}
