import { type ApiObject, type FieldError, invalid, type User } from '@orch/core'
import { readBody } from '../body.ts'
import { respondStored } from '../forms/respond-stored.ts'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import { type Access, alwaysAllow, type Decision, decide } from '../steps/authorize.ts'
import { inOrder, judgeProblems, readCandidate } from '../write/candidate.ts'
import { writeOptionsOf } from '../write/options.ts'
import type { Target, Verb } from './verb.ts'

/** Kinds whose creation is the question whether somebody may do something. */
export const accessReviewKinds: ReadonlySet<string> = new Set([
  'SubjectAccessReview',
  'LocalSubjectAccessReview',
  'SelfSubjectAccessReview',
])

interface ReviewSpec {
  readonly resourceAttributes?: ResourceAttributes
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  readonly user?: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

interface ResourceAttributes {
  readonly namespace?: string
  readonly verb?: string
  readonly group?: string
  readonly version?: string
  readonly resource?: string
  readonly subresource?: string
  readonly name?: string
}

/** Answers the question in the body with the same object and its status. Nothing is stored. */
export const accessReview: Verb = async (request, target, parts) => {
  const { resource, kind } = target.served
  const options = writeOptionsOf(request, parts, 'CreateOptions')
  const { object, problems } = readCandidate(target, await readBody(request, parts, resource))
  judgeProblems(resource, problems, options.fieldValidation, (text) => request.warn(text))
  const spec = (object.spec ?? {}) as ReviewSpec
  const errors = judge(object, spec, target)
  if (errors.length > 0) throw invalid(kind, '', errors)
  const decision = await decideFor(request, spec, resource.kind, parts)
  const answer = inOrder(resource, { ...object, status: statusOf(decision) })
  await respondStored(request, 201, target.served, { value: Buffer.from(JSON.stringify(answer)) }, parts)
}

function decideFor(request: GatewayRequest, spec: ReviewSpec, kind: string, { options }: GatewayParts): Promise<Decision> {
  const { user: name = '', groups = [], uid = '', extra = {} } = spec
  const user: User = kind === 'SelfSubjectAccessReview' ? request.user : { name, groups, uid, extra }
  return decide(options.authorizers ?? [alwaysAllow], user, accessOf(spec))
}

function accessOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec): Access {
  if (resourceAttributes === undefined) {
    return { kind: 'path', path: nonResourceAttributes?.path ?? '', verb: nonResourceAttributes?.verb ?? '' }
  }
  const { namespace = '', verb = '', group = '', version = '', resource = '', subresource = '', name = '' } = resourceAttributes
  return { kind: 'resource', namespace, verb, group, version, resource, subresource, name }
}

function statusOf(decision: Decision): Record<string, unknown> {
  if (decision.kind === 'allow') return { allowed: true }
  const reason = decision.reason === '' ? {} : { reason: decision.reason }
  return { allowed: false, ...(decision.kind === 'deny' ? { denied: true } : {}), ...reason }
}

function judge(object: ApiObject, spec: ReviewSpec, { served, info }: Target): FieldError[] {
  const { kind } = served.resource
  const { resourceAttributes, nonResourceAttributes, user, groups } = spec
  const errors: FieldError[] = []
  const isLocal = kind === 'LocalSubjectAccessReview'
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    errors.push(bad('spec.nonResourceAttributes', nonResourceAttributes, 'cannot be specified in combination with resourceAttributes'))
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.push(bad('spec.resourceAttributes', null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'))
  }
  if (kind !== 'SelfSubjectAccessReview' && !user && (groups ?? []).length === 0) {
    errors.push(bad('spec.user', user ?? '', 'at least one of user or group must be specified'))
  }
  if (isLocal && nonResourceAttributes !== undefined) {
    errors.push(bad('spec.nonResourceAttributes', nonResourceAttributes, 'disallowed on this kind of request'))
  }
  if (isLocal && resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== info.namespace) {
    errors.push(bad('spec.resourceAttributes.namespace', resourceAttributes.namespace ?? '', 'must match metadata.namespace'))
  }
  const { creationTimestamp: _created, namespace: _namespace, ...rest } = object.metadata
  if (Object.keys(rest).length > 0) {
    errors.push(bad('metadata', object.metadata, isLocal ? 'must be empty except for namespace' : 'must be empty'))
  }
  return errors
}

function bad(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${detail}` }
}
