import type { Status } from '../meta/status.ts'
import { contract, type Service, stream, unary } from './contract.ts'
import { bool, int64, json, many, message, nested, optional, type Static, string, stringMap, variants } from './message.ts'
import { condition } from './storage.ts'

export const userMessage = message({
  name: string(1),
  uid: string(2),
  groups: many(string(3)),
  extra: json<Readonly<Record<string, readonly string[]>>>(4),
})
export type User = Static<typeof userMessage>

/** What is about to happen, as every plugin sees it. */
export const attributes = message({
  operation: string(1),
  group: string(2),
  version: string(3),
  kind: string(4),
  resource: string(5),
  subresource: string(6),
  namespace: string(7),
  name: string(8),
  /** The new object; absent for DELETE. Never changed in place. */
  object: json<unknown>(9),
  /** The object as it is; absent for CREATE. */
  oldObject: json<unknown>(10),
  options: json<unknown>(11),
  user: nested(12, userMessage),
  dryRun: bool(13),
  /** Id of the client's request. */
  requestId: string(14),
})
export type Attributes = Static<typeof attributes>

/** `mutate` may change the object, `validate` may only refuse. */
export const admissionRequest = message({ phase: string(1), attributes: nested(2, attributes) })

export const admissionAnswer = variants({
  allowed: message({
    /** The object as the plugins left it; absent: unchanged. */
    object: optional(json<unknown>(1)),
    warnings: many(string(2)),
    auditAnnotations: stringMap(3),
    /** What must still hold when the object is committed. */
    conditions: many(nested(4, condition)),
  }),
  denied: message({ status: json<Status>(1), warnings: many(string(2)), auditAnnotations: stringMap(3) }),
})
export type AdmissionAnswer = Static<typeof admissionAnswer>

/** Which requests admission wants to be asked about. `'*'` matches all of a dimension. */
export const interest = message({
  phase: string(1),
  operations: many(string(2)),
  groups: many(string(3)),
  /** `pods`, `pods/status`, `*` (no subresources), `*`+`/*` (all). */
  resources: many(string(4)),
})
export type Interest = Static<typeof interest>

export const interestsPart = variants({
  /** The whole set, made from the store at this revision; renewed every second. */
  interests: message({ interests: many(nested(1, interest)), revision: int64(2) }),
})

/**
 * Admission: what is allowed to be. The gateway asks only for requests that some interest matches; with interests older
 * than 5 s it asks for every write.
 */
export const admissionContract = contract(
  'orch.admission.v1.Admission',
  {
    admit: unary(admissionRequest, admissionAnswer, { callers: ['gateway'], hot: true }),
    interests: stream(message({}), interestsPart, { callers: ['gateway'], idempotent: true, endless: true }),
  },
  'admission',
)
export type AdmissionService = Service<typeof admissionContract>
export type AdmissionRequest = Static<typeof admissionRequest>
