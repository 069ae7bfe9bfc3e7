import { printJson } from '@orch/core/json'
import { type AuditEvent, PrintedObject } from './event.ts'

/** An event that can leave its thread: its objects are printed. */
export interface PlainAuditEvent {
  readonly event: Omit<AuditEvent, 'requestObject' | 'responseObject'>
  readonly requestObject?: Uint8Array | undefined
  readonly responseObject?: Uint8Array | undefined
}

/** The event, to be sent. */
export function toPlainEvent({ requestObject, responseObject, ...event }: AuditEvent): PlainAuditEvent {
  return {
    event,
    ...(requestObject === undefined ? {} : { requestObject: printed(requestObject) }),
    ...(responseObject === undefined ? {} : { responseObject: printed(responseObject) }),
  }
}

/** The event that was sent. */
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
