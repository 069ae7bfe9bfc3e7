import type { User } from '@orch/core/contracts'
import { badRequest } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { keyOfHeader, textOfHeader } from '../authentication/header-text.ts'
import { type AuthorizeParts, decide, type ResourceInfoAccess, refusal } from '../authorization/authorizer.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { GatewayRequest } from '../request.ts'
import type { Step } from './step.ts'

/** A caller who may impersonate another user acts as that user from here on; the audit event still knows both. */
export const impersonate: Step<AuthorizeParts> = (request, parts) => {
  const wanted = readWanted(request.exchange, parts.names)
  if (wanted !== undefined) return become(request, wanted, parts)
}

async function become(
  request: GatewayRequest,
  { user, accesses, headers }: Wanted,
  { authorizers }: Pick<AuthorizeParts, 'authorizers'>,
): Promise<void> {
  for (const access of accesses) await requireAllowed(request.user, access, authorizers)
  request.exchange.dropHeaders(headers)
  request.user = user
}

/** What could not be decided is not allowed; what went wrong is no concern of the caller. */
async function requireAllowed(caller: User, access: ResourceInfoAccess, authorizers: AuthorizeParts['authorizers']): Promise<void> {
  const { kind, reason } = await decide(authorizers, caller, access)
  if (kind !== 'allow') throw refusal(caller, access, reason)
}

/** The user whom the caller wants to impersonate. */
interface Wanted {
  /** As the rest of the request is to be decided. */
  readonly user: User
  /** What the caller must be allowed to, all of it. */
  readonly accesses: readonly ResourceInfoAccess[]
  /** Names of the headers that said so. */
  readonly headers: readonly string[]
}

const plainHeaders = ['impersonate-user', 'impersonate-group', 'impersonate-uid']
const extraPrefix = 'impersonate-extra-'
const authenticated = 'system:authenticated'
const unauthenticated = 'system:unauthenticated'

/** Headers that ask for impersonation; undefined: there are none. Contradictory headers are refused. */
function readWanted(exchange: Pick<Exchange, 'headerNames' | 'headerValues'>, names: Names): Wanted | undefined {
  const headers = exchange.headerNames().filter((name) => plainHeaders.includes(name) || name.startsWith(extraPrefix))
  if (headers.length === 0) return undefined
  const valuesOf = (header: string) =>
    exchange
      .headerValues(header)
      .filter((value) => value !== '')
      .map(textOfHeader)
  const name = onlyOne('Impersonate-User', valuesOf('impersonate-user'))
  const uid = onlyOne('Impersonate-Uid', valuesOf('impersonate-uid')) ?? ''
  const groups = valuesOf('impersonate-group')
  const extra = readExtra(headers, valuesOf)
  if (name === undefined) throw withoutUser({ uid, groups, extra })
  const account = parseServiceAccount(name)
  const asked = { name, uid, groups, extra }
  return {
    user: { ...asked, groups: withImplied(name, groups.length === 0 && account !== undefined ? groupsOf(account) : groups) },
    accesses: accessesFor(asked, account, names),
    headers,
  }
}

function onlyOne(header: string, values: readonly string[]): string | undefined {
  if (values.length > 1) throw badRequest(`${header}: must be given once, not ${values.length} times`)
  return values[0]
}

function readExtra(headers: readonly string[], valuesOf: (header: string) => string[]): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = Object.create(null)
  for (const header of headers) {
    if (!header.startsWith(extraPrefix)) continue
    const key = keyOfHeader(header.slice(extraPrefix.length))
    if (key === '') throw badRequest('Impersonate-Extra-: must be followed by the key of an extra attribute')
    extra[key] = [...(extra[key] ?? []), ...valuesOf(header)]
  }
  return extra
}

function withoutUser({ uid, groups, extra }: Omit<User, 'name'>): Error {
  const given = [groups.length > 0 ? 'groups' : '', Object.keys(extra).length > 0 ? 'extra' : '', uid === '' ? '' : 'uid']
  const words = given.filter((word) => word !== '').join(', ')
  return badRequest(
    words === ''
      ? 'Impersonate-User: must be the name of a user'
      : `requested ${words} without impersonating a user: Impersonate-User is missing`,
  )
}

interface ServiceAccount {
  readonly namespace: string
  readonly name: string
}

/** `system:serviceaccount:<namespace>:<name>`. */
function parseServiceAccount(user: string): ServiceAccount | undefined {
  const match = /^system:serviceaccount:([a-z0-9]([-a-z0-9]*[a-z0-9])?):([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(user)
  if (match === null) return undefined
  const [, namespace = '', , name = ''] = match
  return { namespace, name }
}

function groupsOf({ namespace }: ServiceAccount): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** Everybody is in one of the two groups; who names one of them has said which. */
function withImplied(name: string, groups: readonly string[]): readonly string[] {
  if (groups.includes(unauthenticated)) return groups
  if (name === 'system:anonymous') return [...groups, unauthenticated]
  return groups.includes(authenticated) ? groups : [...groups, authenticated]
}

function accessesFor({ name, uid, groups, extra }: User, account: ServiceAccount | undefined, names: Names): ResourceInfoAccess[] {
  const group = domainGroup(names, 'authentication')
  return [
    account === undefined
      ? anAccess({ resource: 'users', name })
      : anAccess({ resource: 'serviceaccounts', namespace: account.namespace, name: account.name }),
    ...groups.map((name) => anAccess({ resource: 'groups', name })),
    ...(uid === '' ? [] : [anAccess({ group, resource: 'uids', name: uid })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => anAccess({ group, resource: 'userextras', subresource: key, name })),
    ),
  ]
}

function anAccess(access: Partial<ResourceInfoAccess>): ResourceInfoAccess {
  return {
    kind: 'resource',
    verb: 'impersonate',
    group: '',
    version: 'v1',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    ...access,
  }
}
