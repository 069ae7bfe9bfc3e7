import { printJson } from '@orch/core/json'
import { type AuditEvent, PrintedObject } from './event.ts'

/** An event for another thread: its objects are printed. */
export interface PlainAuditEvent {
  readonly event: Omit<AuditEvent, 'requestObject' | 'responseObject'>
  readonly requestObject?: Uint8Array | undefined
  readonly responseObject?: Uint8Array | undefined
}

/** Converts the event for sending. */
export function toPlainEvent({ requestObject, responseObject, ...event }: AuditEvent): PlainAuditEvent {
  return {
    event,
    ...(requestObject === undefined ? {} : { requestObject: printed(requestObject) }),
    ...(responseObject === undefined ? {} : { responseObject: printed(responseObject) }),
  }
}

/** Restores the sent event. */
export function fromPlainEvent({ event, requestObject, responseObject }: PlainAuditEvent): AuditEvent {
  return {
    ...event,
    ...(requestObject === undefined ? {} : { requestObject: new PrintedObject(requestObject) }),
    ...(responseObject === undefined ? {} : { responseObject: new PrintedObject(responseObject) }),
  }
}

function printed(object: unknown): Uint8Array {
  return object instanceof PrintedObject ? object.json : Buffer.from(printJson(object, { hasBigIntegers: true }))
}
