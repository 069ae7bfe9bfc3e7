import { printJson } from '@orch/core'
import type { AuditEvent, AuditEventList } from './event.ts'
import type { AuditDelivery } from './sink.ts'

/** A way to a webhook. Resolves when it has taken the text; credentials and addresses are the sender's affair. */
export interface AuditSender {
  post(json: string): Promise<void>
  close(): void
}

/** Sends events to a webhook, a list at a time. */
export function createAuditWebhook(sender: AuditSender, apiVersion: string): AuditDelivery {
  return {
    name: 'webhook',
    deliver(items: readonly AuditEvent[]) {
      const list: AuditEventList = { kind: 'EventList', apiVersion, metadata: {}, items }
      return sender.post(printJson(list, { hasBigIntegers: true }))
    },
    async close() {
      sender.close()
    },
  }
}
