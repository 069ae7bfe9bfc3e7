import type { User } from '@orch/core/contracts'
import { goQuote } from '@orch/core/json'
import { failed } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { everything, type PolicyRule } from '@orch/core/rbac'
import { parseFieldSelector } from '@orch/core/selectors'
import type { Clock } from '@orch/platform'
import { type GatewayRequest, type PathInfo, PlainRefusal, type ResourceInfo } from '../request/index.ts'
import type { AccessMetrics, CountedDecision } from './authorization-metrics.ts'

/** An access to authorize. Every request is an access; a review may check others, with verbs that no request has. */
export type Access =
  | PathInfo
  | (Omit<ResourceInfo, 'verb' | 'rest'> & {
      /** A verb of requests, another word such as `impersonate`, or `*`. */
      readonly verb: string
      /** Undefined for all objects. */
      readonly selectors?: SelectorTexts
    })

/** The selectors of a list, a watch or a deletion of many objects, as sent; '' for none. */
export interface SelectorTexts {
  readonly field: string
  readonly label: string
}

export type ResourceInfoAccess = Extract<Access, { kind: 'resource' }>

/** The decision of one or all authorizers about an access. */
export type Decision = DecisionKind & {
  /** The reason; '' for none. */
  readonly reason: string
  /** An error on the way to the decision, which does not change it. */
  readonly error?: string
}

interface DecisionKind {
  /** Without an opinion the next authorizer is called, and finally the access is refused. */
  readonly kind: 'allow' | 'deny' | 'noOpinion'
}

/** The known rights of a user, independent of an access. */
export interface KnownRules {
  /** Rules about resources and about paths. */
  readonly rules: readonly PolicyRule[]
  /** True if the list is incomplete. */
  readonly isIncomplete?: boolean
  readonly error?: string
}

/** An authorizer decides if a user may do something, without a promise if possible, which would cost every request. */
export interface Authorizer {
  /** The name before its reasons; undefined if they are returned without a name. */
  readonly name?: string | undefined
  authorize(user: User, access: Access): Decision | Promise<Decision>
  /** In a namespace, or '' for the rules of all namespaces. */
  rulesOf(user: User, namespace: string): KnownRules
  /** Counts its decisions; undefined if they are not counted. */
  decided?: ((kind: CountedDecision) => void) | undefined
}

/** Calls authorizers in order; the first opinion decides. Without any, the reasons of all are joined. */
export function decide(authorizers: readonly Authorizer[], user: User, access: Access): Decision | Promise<Decision> {
  return decideFrom(0, nothingSaid, { authorizers, user, access })
}

/** Reasons and errors of the authorizers without an opinion. */
interface Said {
  readonly reasons: readonly string[]
  readonly errors: readonly string[]
}

const nothingSaid: Said = { reasons: [], errors: [] }

interface Question {
  readonly authorizers: readonly Authorizer[]
  readonly user: User
  readonly access: Access
}

function decideFrom(start: number, before: Said, question: Question): Decision | Promise<Decision> {
  const { authorizers, user, access } = question
  let said = before
  for (let index = start; index < authorizers.length; index++) {
    const authorizer = authorizers[index]
    const decision = authorizer?.authorize(user, access)
    if (decision === undefined) break
    if (decision instanceof Promise) {
      const sofar = said
      return decision.then((late) => {
        if (late.kind === 'noOpinion') return decideFrom(index + 1, withSaid(sofar, late, authorizer?.name), question)
        authorizer?.decided?.(late.kind)
        return late
      })
    }
    if (decision.kind !== 'noOpinion') {
      authorizer?.decided?.(decision.kind)
      return decision
    }
    said = withSaid(said, decision, authorizer?.name)
  }
  const reason = said.reasons.join('\n')
  return said.errors.length === 0 ? { kind: 'noOpinion', reason } : { kind: 'noOpinion', reason, error: said.errors.join(', ') }
}

function withSaid(said: Said, { reason, error }: Decision, name: string | undefined): Said {
  if (reason === '' && error === undefined) return said
  return {
    reasons: reason === '' ? said.reasons : [...said.reasons, name === undefined ? reason : `${name}: ${reason}`],
    errors: error === undefined ? said.errors : [...said.errors, error],
  }
}

const allow: Decision = { kind: 'allow', reason: '' }
const noOpinion: Decision = { kind: 'noOpinion', reason: '' }
/** The group whose members may do everything in every mode, so that a broken configuration can be repaired. */
const mastersGroup = 'system:masters'

export const isMaster = ({ groups }: User): boolean => groups.includes(mastersGroup)

/** Allows the administrators' group everything. It lists no rules, as the roles list the same ones. */
export const allowMasters: Authorizer = {
  authorize: (user) => (isMaster(user) ? allow : noOpinion),
  rulesOf: () => ({ rules: [] }),
}

/** Allows health checks for all users until roles are loaded: a supervisor must not end this process because storage is unreachable. */
export const allowHealth = (applies: () => boolean): Authorizer => ({
  authorize: (_user, access) =>
    access.kind === 'path' && access.verb === 'get' && /^\/(?:livez|readyz|healthz)$/.test(access.path) && applies() ? allow : noOpinion,
  rulesOf: () => ({ rules: [] }),
})

/** The mode in which every authenticated user may do everything. */
export const alwaysAllow: Authorizer = { authorize: () => allow, rulesOf: () => ({ rules: everything }) }

/** The mode that denies every other request. */
export const alwaysDeny: Authorizer = {
  authorize: () => ({ kind: 'noOpinion', reason: 'Everything is forbidden.' }),
  rulesOf: () => ({ rules: [] }),
}

/** The dependencies of a decision about access. */
export interface AuthorizeParts {
  readonly names: Names
  /** Called in order until one decides. */
  readonly authorizers: readonly Authorizer[]
}

/** The dependencies of counting decisions. */
interface CountParts {
  readonly accessMetrics: AccessMetrics
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Passes an allowed request, and refuses every other. */
export function authorize(request: GatewayRequest, parts: AuthorizeParts & CountParts): void | Promise<void> {
  const startedMs = parts.clock.monotonic()
  const access = accessOf(request)
  const decided = (decision: Decision) => {
    parts.accessMetrics.authorized(resultOf(decision), (parts.clock.monotonic() - startedMs) / 1000)
    requireAllowed(request, access, decision, parts.names)
  }
  const decision = decide(parts.authorizers, request.user, access)
  // A synchronous decision must not cause a promise.
  return decision instanceof Promise ? decision.then(decided) : decided(decision)
}

function resultOf({ kind, error }: Decision): Parameters<AccessMetrics['authorized']>[0] {
  if (kind === 'allow') return 'allowed'
  if (kind === 'deny') return 'denied'
  return error === undefined ? 'no-opinion' : 'error'
}

/** A PUT or an apply that creates an object must be allowed as a create too. A POST has already been checked. */
export function requireMayCreate(
  { info, user }: GatewayRequest,
  name: string,
  { authorizers }: Pick<AuthorizeParts, 'authorizers'>,
): Promise<void> | undefined {
  if (info.kind === 'path' || info.verb === 'create') return undefined
  return requireAccess(user, { ...info, verb: 'create', name }, authorizers)
}

async function requireAccess(user: User, access: Access, authorizers: readonly Authorizer[]): Promise<void> {
  const { kind, reason } = await decide(authorizers, user, access)
  if (kind !== 'allow') throw refusal(user, access, reason)
}

function requireAllowed(request: GatewayRequest, access: Access, { kind, reason, error }: Decision, names: Names): void {
  const { user, exchange } = request
  const group = domainGroup(names, 'authorization')
  request.explanation?.authorized(kind === 'allow', reason)
  request.annotate(`${group}/decision`, kind === 'allow' ? 'allow' : 'forbid')
  request.annotate(`${group}/reason`, kind === 'allow' || error === undefined ? reason : 'internal error')
  if (kind === 'allow') return
  if (error !== undefined) throw new PlainRefusal(500, `Internal Server Error: ${JSON.stringify(exchange.target)}: ${error}\n`)
  throw refusal(user, access, reason)
}

/** The access of a request. A list or watch of one object by its field selector is an access to that object. */
export function accessOf({ info, query }: GatewayRequest): Access {
  if (info.kind === 'path' || query.isEmpty || info.name !== '' || !selectingVerbs.has(info.verb)) return info
  const [field = '', label = ''] = [query.get('fieldSelector'), query.get('labelSelector')]
  if (field === '' && label === '') return info
  const name = info.verb === 'deletecollection' ? undefined : demandedName(field)
  return { ...info, name: name ?? info.name, selectors: { field, label } }
}

const selectingVerbs: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

function demandedName(fieldSelector: string): string | undefined {
  if (!fieldSelector.includes('metadata.name')) return undefined
  const reading = parseFieldSelector(fieldSelector)
  if (reading.kind === 'malformed') return undefined
  const demanded = reading.requirements.find(({ field, operator }) => field === 'metadata.name' && operator === 'Equals')
  const isSegment = demanded !== undefined && !/[/%]/.test(demanded.value) && !['', '.', '..'].includes(demanded.value)
  return isSegment ? demanded.value : undefined
}

/** The 403 for an access. */
export function refusal(user: User, access: Access, reason: string): Error {
  const why = reason === '' ? '' : `: ${reason}`
  if (access.kind === 'path') {
    const { verb, path } = access
    const message = `forbidden: ${escaped(`User ${goQuote(user.name)} cannot ${verb} path ${goQuote(path)}`)}${why}`
    return failed(403, 'Forbidden', message, { details: {} })
  }
  const { verb, group, name, namespace } = access
  const resource = access.subresource === '' ? access.resource : `${access.resource}/${access.subresource}`
  const dotted = group === '' ? access.resource : `${access.resource}.${group}`
  const what = name === '' ? `${dotted} is forbidden` : `${dotted} ${goQuote(name)} is forbidden`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`
  const sentence = `User ${goQuote(user.name)} cannot ${verb} resource ${goQuote(resource)} in API group ${goQuote(group)} ${where}`
  return failed(403, 'Forbidden', `${what}: ${escaped(sentence)}${why}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind: access.resource,
    },
  })
}

/** As kube-apiserver escapes what the caller has chosen, for browsers that show a refusal. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
