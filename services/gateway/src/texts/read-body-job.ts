import { printJson } from '@orch/core/json'
import { namesOf } from '@orch/core/names'
import type { AuditBodyAnswer, AuditBodyJob } from './jobs.ts'
import { readBody } from './read-body.ts'

const encoder = new TextEncoder()

/** Reads a large body for an audit event, in the thread of texts, and prints it as the event has it. */
export function doAuditBodyJob({ bytes, profile, reading, isPrinted }: AuditBodyJob): AuditBodyAnswer {
  try {
    const body = readBody(bytes, reading, namesOf(profile))
    if (body === undefined) return { kind: 'auditBody', metadata: undefined }
    const { metadata, object } = body
    if (!isPrinted) return { kind: 'auditBody', metadata }
    return { kind: 'auditBody', metadata, bytes: encoder.encode(printJson(object, { hasBigIntegers: true })) }
  } catch (error) {
    return { kind: 'failed', error }
  }
}
