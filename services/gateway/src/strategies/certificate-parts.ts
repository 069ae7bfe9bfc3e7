import type { ApiObject, FieldError } from '@orch/core/meta'
import { type BuiltIn, forbiddenValue, invalidValue } from '@orch/core/schema'
import { findCertificatesProblem } from './certificate-content.ts'

type Condition = Pick<StoredCondition, 'type'> & Partial<StoredCondition>
type StoredCondition = BuiltIn<'certificates/v1.CertificateSigningRequestCondition'>

interface RequestStatus {
  readonly conditions?: readonly Condition[]
  readonly certificate?: string
}

/** Conditions that are written at `/approval` alone. */
const decisions = ['Approved', 'Denied']

/** The status written by approval: all conditions come from the writer, and the certificate stays. */
export function approvedStatus(given: ApiObject, live: ApiObject, now: string): RequestStatus {
  return withConditions(statusOf(live), conditionsOf(given), conditionsOf(live), now)
}

/** The status written by a signer: up to the previous number of decisions count as the previous ones. Others are refused. */
export function issuedStatus(given: ApiObject, live: ApiObject, now: string): RequestStatus {
  const before = conditionsOf(live)
  const conditions = decisions.reduce((all, type) => keepDecisions(all, before, type), conditionsOf(given))
  return withConditions(statusOf(given), conditions, before, now)
}

/** The errors of a signer's write. */
export function validateIssued(object: ApiObject, live: ApiObject): FieldError[] {
  const [after, before] = [conditionsOf(object), conditionsOf(live)]
  const errors = decisions
    .filter((type) => countOf(after, type) > countOf(before, type))
    .map((type) => forbiddenValue('status.conditions', `updates may not add a condition of type ${JSON.stringify(type)}`))
  return [...validateCertificate(statusOf(object), statusOf(live)), ...errors]
}

/** A certificate that has been stored stays valid. */
function validateCertificate({ certificate = '' }: RequestStatus, before: RequestStatus): FieldError[] {
  if (certificate === '' || certificate === before.certificate) return []
  const problem = findCertificatesProblem(Buffer.from(certificate, 'base64').toString('latin1'))
  return problem === undefined ? [] : [invalidValue('status.certificate', '<certificate data>', problem)]
}

function keepDecisions(conditions: readonly Condition[], before: readonly Condition[], type: string): readonly Condition[] {
  const kept = before.filter((condition) => condition.type === type)
  if (countOf(conditions, type) !== kept.length) return conditions
  let next = 0
  return conditions.map((condition) => (condition.type === type ? (kept[next++] ?? condition) : condition))
}

function withConditions(status: RequestStatus, conditions: readonly Condition[], before: readonly Condition[], now: string): RequestStatus {
  const { conditions: _conditions, ...rest } = status
  return conditions.length === 0 ? rest : { ...rest, conditions: transitionTimes(conditions, before, now) }
}

function countOf(conditions: readonly Condition[], type: string): number {
  return conditions.filter((condition) => condition.type === type).length
}

function conditionsOf(object: ApiObject): readonly Condition[] {
  return statusOf(object).conditions ?? []
}

function statusOf({ status }: ApiObject): RequestStatus {
  return status ?? {}
}

/** The conditions with default times: a condition with an unchanged status keeps its transition time. */
export function transitionTimes<C extends Condition>(conditions: readonly C[], before: readonly Condition[], now: string): C[] {
  return conditions.map((condition) => {
    const same = before.find(({ type, status }) => type === condition.type && status === condition.status)
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    }
  })
}
