import { setImmediate } from 'node:timers/promises'
import type { AuditEvent } from './event.ts'
import { inPieces, printAuditEvent } from './print-event.ts'
import type { AuditDelivery } from './sink.ts'

/** A transport to a webhook. Resolves when the webhook has accepted the text; the sender knows credentials and addresses. */
export interface AuditSender {
  post(json: string): Promise<void>
  close(): void
}

const comma = Buffer.from(',')

/** Sends lists of events to a webhook. */
export function createAuditWebhook(sender: AuditSender, apiVersion: string): AuditDelivery {
  return {
    name: 'webhook',
    async deliver(items: readonly AuditEvent[]) {
      const front = `{"kind":"EventList","apiVersion":${JSON.stringify(apiVersion)},"metadata":{},"items":[`
      const texts: string[] = []
      let text = front
      for (const piece of inPieces(items, (event) => Buffer.concat([printAuditEvent(event), comma]))) {
        texts.push(text)
        text = piece.toString()
        if (texts.length > 1) await setImmediate()
      }
      // The last event has no comma after it.
      texts.push(text === front ? text : text.slice(0, -1), ']}')
      await sender.post(texts.join(''))
    },
    async close() {
      sender.close()
    },
  }
}
