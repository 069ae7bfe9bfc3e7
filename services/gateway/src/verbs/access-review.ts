import type { User } from '@orch/core/contracts'
import { printJson } from '@orch/core/json'
import { type ApiObject, badRequest, type FieldError, invalid } from '@orch/core/meta'
import type { PolicyRule } from '@orch/core/rbac'
import { type BuiltIn, type GoValue, goValue, invalidValue, isOfType, requireType } from '@orch/core/schema'
import { type Access, type Authorizer, type Decision, decide } from '../authorization/authorizer.ts'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { pause } from '../request/pace.ts'
import type { Target } from '../target/target.ts'
import { inOrder } from '../write/prepare.ts'
import { type ReviewParts, readReview } from './review-body.ts'
import { selectorsOf, validateSelectors } from './review-selectors.ts'
import type { Verb } from './verb.ts'

/** The dependencies of a review of access. */
export type AccessReviewParts = ReviewParts &
  RespondStoredParts & {
    readonly authorizers: readonly Authorizer[]
  }

type ReviewSpec = BuiltIn<'authorization/v1.SubjectAccessReviewSpec'>

/** Answers a review with the same object and its status. Nothing is stored. */
export const accessReview: Verb<AccessReviewParts> = async (request, target, parts) => {
  const { resource } = target.served
  const object = await readReview(request, target, parts)
  const spec = specOf(object)
  const { level } = parts.catalogue
  const errors = validate(object, spec, target, level)
  if (errors.length > 0) throw invalid({ group: resource.group, kind: '' }, '', errors, level)
  await pause(request, parts)
  const user = isOfType('authorization/v1.SelfSubjectAccessReview', object) ? request.user : userOf(spec)
  const decision = await decide(parts.authorizers, user, accessOf(spec))
  await pause(request, parts)
  const { errors: ignored } = selectorsOf(spec.resourceAttributes ?? {})
  const answer = inOrder(resource, { ...object, status: statusOf(decision, ignored) })
  await respondStored(request, { code: 201, served: target.served, content: { value: Buffer.from(printJson(answer)) } }, parts)
}

function specOf(object: ApiObject): ReviewSpec {
  if (isOfType('authorization/v1.SelfSubjectAccessReview', object)) return object.spec
  if (isOfType('authorization/v1.LocalSubjectAccessReview', object)) return object.spec
  return requireType('authorization/v1.SubjectAccessReview', object).spec
}

/** Answers with the caller's known rights in a namespace, as a new object. */
export const rulesReview: Verb<AccessReviewParts> = async (request, target, parts) => {
  const { resource } = target.served
  const object = await readReview(request, target, parts)
  const { namespace = '' } = requireType('authorization/v1.SelfSubjectRulesReview', object).spec
  if (namespace === '') throw badRequest('no namespace on request')
  const { kind, apiVersion } = object
  const answer = inOrder(resource, { kind, apiVersion, metadata: {}, spec: {}, status: rulesStatus(request.user, namespace, parts) })
  await respondStored(request, { code: 201, served: target.served, content: { value: Buffer.from(printJson(answer)) } }, parts)
}

function rulesStatus(user: User, namespace: string, { authorizers }: AccessReviewParts): Record<string, unknown> {
  const known = authorizers.map((authorizer) => authorizer.rulesOf(user, namespace))
  const rules = known.flatMap((one) => one.rules)
  const errors = known.flatMap(({ error }) => error ?? [])
  return {
    resourceRules: rules.filter(isAboutResources).map(({ verbs, apiGroups, resources, resourceNames = [] }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames.length === 0 ? {} : { resourceNames }),
    })),
    nonResourceRules: rules.filter((rule) => !isAboutResources(rule)).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: known.some(({ isIncomplete }) => isIncomplete === true),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join(', ') }),
  }
}

function isAboutResources({ nonResourceURLs = [] }: PolicyRule): boolean {
  return nonResourceURLs.length === 0
}

function userOf({ user: name = '', groups = [], uid = '', extra = {} }: ReviewSpec): User {
  return { name, groups, uid, extra }
}

function accessOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec): Access {
  if (resourceAttributes === undefined) {
    return { kind: 'path', path: nonResourceAttributes?.path ?? '', verb: nonResourceAttributes?.verb ?? '' }
  }
  const { namespace = '', verb = '', group = '', version = '', resource = '', subresource = '', name = '' } = resourceAttributes
  const { selectors } = selectorsOf(resourceAttributes)
  const access = { kind: 'resource', namespace, verb, group, version, resource, subresource, name } as const
  return selectors === undefined ? access : { ...access, selectors }
}

function statusOf(decision: Decision, ignored: readonly string[]): Record<string, unknown> {
  const { kind, reason } = decision
  const errors = [...(decision.error === undefined ? [] : [decision.error]), ...ignored]
  return {
    allowed: kind === 'allow',
    ...(kind === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  }
}

/** The first level that reports conflicting attributes as an error of the whole. */
const unionSince = 37

function validate(object: ApiObject, spec: ReviewSpec, { served, info }: Target, level: number): FieldError[] {
  const { kind } = served.resource
  const { resourceAttributes, nonResourceAttributes, user, groups } = spec
  const errors: FieldError[] = []
  const isLocal = kind === 'LocalSubjectAccessReview'
  const isUnion = level >= unionSince
  const exactlyOne = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const field = isUnion ? 'spec' : 'spec.nonResourceAttributes'
    const why = isUnion ? exactlyOne : 'cannot be specified in combination with resourceAttributes'
    errors.push(invalidValue(field, printed(nonResourceAttributes), why))
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.push(invalidValue(isUnion ? 'spec' : 'spec.resourceAttributes', null, exactlyOne))
  }
  if (kind !== 'SelfSubjectAccessReview' && !user && (groups ?? []).length === 0) {
    errors.push(invalidValue('spec.user', user ?? '', 'at least one of user or group must be specified'))
  }
  if (resourceAttributes !== undefined) errors.push(...validateSelectors(resourceAttributes, 'spec.resourceAttributes'))
  const { creationTimestamp: created, namespace: _namespace, managedFields: _owners, ...rest } = object.metadata
  if (Object.keys(rest).length > 0 || typeof created === 'string') {
    errors.push(invalidValue('metadata', object.metadata, isLocal ? 'must be empty except for namespace' : 'must be empty'))
  }
  if (isLocal && resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== info.namespace) {
    errors.push(invalidValue('spec.resourceAttributes.namespace', resourceAttributes.namespace ?? '', 'must match metadata.namespace'))
  }
  if (isLocal && nonResourceAttributes !== undefined) {
    errors.push(invalidValue('spec.nonResourceAttributes', printed(nonResourceAttributes), 'disallowed on this kind of request'))
  }
  return errors
}

function printed(attributes: Readonly<Record<string, unknown>>): GoValue {
  return goValue({ kind: 'ref', name: 'authorization/v1.NonResourceAttributes' }, attributes)
}
