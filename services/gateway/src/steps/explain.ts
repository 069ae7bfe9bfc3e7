import type { User } from '@orch/core/contracts'
import type { Names } from '@orch/core/names'
import { type AuthorizeParts, type Authorizer, decide } from '../authorization/authorizer.ts'
import { Explanation, type KeptExplanations } from '../request/explanation.ts'
import type { GatewayRequest, RequestInfo } from '../request/index.ts'
import type { Step } from './step.ts'

/** The parts that explanations need. */
export type ExplainParts = AuthorizeParts & {
  /** Undefined if explanations of writes are not stored. */
  readonly explanations: KeptExplanations | undefined
}

/** Starts an explanation if the request has its header, or for a write if explanations are stored. */
export const beginExplanation: Step<ExplainParts> = (request, parts) => {
  if (!isAsked(request, parts) && !isKept(request, parts)) return
  request.explanation = new Explanation(parts.names.explainHeader)
}

function isAsked({ exchange }: GatewayRequest, { names }: ExplainParts): boolean {
  return exchange.header(names.explainHeader) === '1'
}

function isKept({ method }: GatewayRequest, { explanations }: ExplainParts): boolean {
  return explanations !== undefined && method !== 'GET' && method !== 'HEAD'
}

/** Drops the explanation if the user may not see it, with a warning. The request continues. */
export const permitExplanation: Step<ExplainParts> = (request, parts) => {
  const { explanation, user } = request
  if (explanation === undefined) return
  explanation.actsAs(user.name)
  return isAsked(request, parts) ? permit(request, explanation, parts) : undefined
}

async function permit(request: GatewayRequest, explanation: Explanation, parts: ExplainParts): Promise<void> {
  const { names, authorizers } = parts
  if (await mayExplain(request.user, names, authorizers)) {
    const isWithheld = request.exchange.peer.kind === 'console' && isAboutSecret(request.info)
    explanation.showsValues = !isWithheld && (await mayRead(request.user, request.info, authorizers))
    explanation.isShown = true
    return
  }
  if (!isKept(request, parts)) request.explanation = undefined
  request.warn(`${names.explainHeader}: you may not see how requests are decided: get of ${explainPath(names)} is needed`)
}

/** The non-resource path for the permission to see explanations; it is not served. */
export function explainPath(names: Names): string {
  return `/${names.apiDomain}/explain`
}

/** True if a user may see explanations. */
export async function mayExplain(user: User, names: Names, authorizers: readonly Authorizer[]): Promise<boolean> {
  const { kind } = await decide(authorizers, user, { kind: 'path', verb: 'get', path: explainPath(names) })
  return kind === 'allow'
}

/** True for a request about Secrets, whose values console pages show only on request. */
export function isAboutSecret(info: RequestInfo): boolean {
  return info.kind === 'resource' && info.group === '' && info.resource === 'secrets'
}

/** True if a user may read the object of a request, and so the changes of plugins. */
export async function mayRead(user: User, info: RequestInfo, authorizers: readonly Authorizer[]): Promise<boolean> {
  if (info.kind === 'path') return true
  const { kind } = await decide(authorizers, user, { ...info, verb: 'get' })
  return kind === 'allow'
}
