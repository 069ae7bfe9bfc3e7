import type { User } from '@orch/core/contracts'
import { badRequest } from '@orch/core/meta'
import { keyOfHeader, textOfHeader } from '../authentication/header-text.ts'
import { type AuthorizeParts, accessOf, decide, refusal } from '../authorization/authorizer.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { GatewayRequest } from '../request/request.ts'
import { constrained, type Impersonation, unconstrained } from './impersonation-modes.ts'
import type { Step } from './step.ts'

/** The dependencies of impersonation. */
export interface ImpersonateParts extends AuthorizeParts {
  /** True if callers may be allowed to impersonate only in certain requests. */
  readonly constrainsImpersonation: boolean
}

/** A caller with permission to impersonate acts as the other user from here on; the audit event names both. */
export const impersonate: Step<ImpersonateParts> = (request, parts) => {
  const wanted = readWanted(request.exchange)
  if (wanted !== undefined) return become(request, wanted, parts)
}

async function become(
  request: GatewayRequest,
  { asked, headers }: Wanted,
  { authorizers, names, constrainsImpersonation }: ImpersonateParts,
): Promise<void> {
  const question = { caller: request.user, asked, access: accessOf(request), names }
  let first: Awaited<ReturnType<typeof refusedAccess>>
  for (const way of [...(constrainsImpersonation ? constrained(question) : []), unconstrained(question)]) {
    const refused = await refusedAccess(way, authorizers)
    if (refused === undefined) return act(request, way, headers)
    first ??= refused
  }
  // An access without a decision is not allowed, and its error is not shown to the caller.
  if (first !== undefined) throw refusal(request.user, first.access, first.reason)
}

function act(request: GatewayRequest, { user, constraint }: Impersonation, headers: readonly string[]): void {
  request.exchange.dropHeaders(headers)
  request.user = user
  request.impersonationConstraint = constraint
}

/** The first access that the caller lacks; undefined if all are allowed. */
async function refusedAccess({ caller, accesses }: Impersonation, authorizers: AuthorizeParts['authorizers']) {
  for (const access of accesses) {
    const { kind, reason } = await decide(authorizers, caller, access)
    if (kind !== 'allow') return { access, reason }
  }
  return undefined
}

/** The requested user of the caller. */
interface Wanted {
  readonly asked: User
  /** Names of the headers of the request. */
  readonly headers: readonly string[]
}

const plainHeaders = ['impersonate-user', 'impersonate-group', 'impersonate-uid']
const extraPrefix = 'impersonate-extra-'

/** The request for impersonation in headers; undefined without any. Contradictory headers are refused. */
function readWanted(exchange: Pick<Exchange, 'headerNames' | 'headerValues'>): Wanted | undefined {
  const headers = exchange.headerNames().filter((name) => plainHeaders.includes(name) || name.startsWith(extraPrefix))
  if (headers.length === 0) return undefined
  const valuesOf = (header: string) => exchange.headerValues(header).map(textOfHeader)
  const name = onlyOne('Impersonate-User', valuesOf('impersonate-user'))
  const uid = onlyOne('Impersonate-Uid', valuesOf('impersonate-uid')) ?? ''
  const groups = valuesOf('impersonate-group')
  const extra = readExtra(headers, valuesOf)
  if (name === undefined && uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined
  if (name === undefined) throw withoutUser({ uid, groups, extra })
  return { asked: { name, uid, groups, extra }, headers }
}

function onlyOne(header: string, given: readonly string[]): string | undefined {
  const values = given.filter((value) => value !== '')
  if (values.length > 1) throw badRequest(`${header}: must be given once, not ${values.length} times`)
  return values[0]
}

function readExtra(headers: readonly string[], valuesOf: (header: string) => string[]): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = Object.create(null)
  for (const header of headers) {
    if (!header.startsWith(extraPrefix)) continue
    const key = keyOfHeader(header.slice(extraPrefix.length))
    extra[key] = [...(extra[key] ?? []), ...valuesOf(header)]
  }
  return extra
}

/** In the words of kube-apiserver, which prints the requested user in the syntax of Go. */
function withoutUser({ uid, groups, extra }: Omit<User, 'name'>): Error {
  const attributes = Object.entries(extra).sort(([one], [other]) => (one < other ? -1 : 1))
  const listOf = (texts: readonly string[]) => `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`
  const printedGroups = groups.length === 0 ? '[]string(nil)' : listOf(groups)
  const pairs = attributes.map(([key, values]) => `${JSON.stringify(key)}:${listOf(values)}`)
  const printedExtra = attributes.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${pairs.join(', ')}}`
  const wanted = `Name:"", UID:${JSON.stringify(uid)}, Groups:${printedGroups}, Extra:${printedExtra}`
  return badRequest(`requested &user.DefaultInfo{${wanted}} without impersonating a user name`)
}
