import type { User } from '@orch/core/contracts'
import type { ClaimExpression } from '@orch/core/expressions'
import { isTexts } from '@orch/core/json'
import type { Steps } from '@orch/core/steps'
import { limits } from './limits.ts'

type Claims = Readonly<Record<string, unknown>>

/** The source of a part of a user: a claim, whose values get a prefix, or an expression. */
export type ClaimMapping =
  | { readonly kind: 'claim'; readonly claim: string; readonly prefix: string }
  | { readonly kind: 'expression'; readonly expression: ClaimExpression<Claims> }

/** A condition, and the message if it does not hold. */
export interface ClaimCondition<Input> {
  readonly expression: ClaimExpression<Input>
  readonly message: string
}

/** The rules that map claims to a user. */
export interface ClaimRules {
  readonly issuer: string
  /** A token is for this server if it names one of these audiences. */
  readonly audiences: readonly string[]
  readonly username: ClaimMapping
  /** Undefined if groups are not taken from tokens. */
  readonly groups: ClaimMapping | undefined
  /** Undefined if users have none. */
  readonly uid: ClaimMapping | undefined
  /** Further attributes of a user, by name. */
  readonly extra: ReadonlyMap<string, ClaimExpression<Claims>>
  /** The name of the attribute with the ID of the token; undefined if users have none. */
  readonly credentialKey?: string | undefined
  /** Claims that must have exactly these values. */
  readonly requiredClaims: Readonly<Record<string, string>>
  readonly claimConditions: readonly ClaimCondition<Claims>[]
  readonly userConditions: readonly ClaimCondition<User>[]
}

/** The result of a verified token's claims. */
export type ClaimsOutcome =
  | { readonly kind: 'user'; readonly user: User; readonly expiresMs: number }
  | { readonly kind: 'refused'; readonly reason: string }

class ClaimError extends Error {}

/** The user of a token; each expression is a step. Reasons name claims and expressions, never values. */
export function* checkClaims(claims: Claims, rules: ClaimRules, nowMs: number): Steps<ClaimsOutcome> {
  try {
    const expiresMs = checkTimes(claims, nowMs)
    checkAudience(claims, rules.audiences)
    const user = {
      name: usernameOf(claims, rules.username),
      uid: uidOf(claims, rules.uid),
      groups: groupsOf(claims, rules.groups),
      extra: yield* extraOf(claims, rules),
    }
    checkRequired(claims, rules.requiredClaims)
    yield* checkConditions(claims, rules.claimConditions)
    yield* checkConditions(user, rules.userConditions)
    return { kind: 'user', user, expiresMs }
  } catch (error) {
    if (error instanceof ClaimError) return { kind: 'refused', reason: error.message }
    throw error
  }
}

/** Only the begin has some tolerance: a token that has expired stays expired. */
function checkTimes(claims: Claims, nowMs: number): number {
  const expiresMs = momentOf(claims, 'exp')
  if (expiresMs === undefined) throw new ClaimError('exp: must be there')
  if (expiresMs < nowMs) throw new ClaimError('exp: the token has expired')
  for (const name of ['nbf', 'iat']) {
    const fromMs = momentOf(claims, name)
    if (fromMs !== undefined && fromMs > nowMs + limits.clockSkewMs) throw new ClaimError(`${name}: the token is not valid yet`)
  }
  return expiresMs
}

function momentOf(claims: Claims, name: string): number | undefined {
  const seconds = claims[name]
  if (seconds === undefined) return undefined
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) throw new ClaimError(`${name}: must be a number of seconds`)
  return Math.floor(seconds) * 1_000
}

/** A token may be for others too; `azp` names the client that requested it, which a required claim can restrict. */
function checkAudience({ aud, azp }: Claims, ours: readonly string[]): void {
  const audiences = typeof aud === 'string' ? [aud] : aud
  if (!isTexts(audiences)) throw new ClaimError('aud: must be a text or a list of texts')
  if (!audiences.some((audience) => ours.includes(audience))) throw new ClaimError('aud: the token is not for this client')
  if (azp !== undefined && typeof azp !== 'string') throw new ClaimError('azp: must be a text')
}

function checkRequired(claims: Claims, required: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(required)) {
    if (!Object.hasOwn(claims, name)) throw new ClaimError(`${name}: required, and missing`)
    if (claims[name] !== value) throw new ClaimError(`${name}: required to have another value`)
  }
}

function* checkConditions<Input>(input: Input, conditions: readonly ClaimCondition<Input>[]): Steps<void> {
  for (const { expression, message } of conditions) {
    if (evaluate(expression, input) !== true) throw new ClaimError(`${expression.text}: false${message === '' ? '' : `: ${message}`}`)
    yield
  }
}

function evaluate<Input>(expression: ClaimExpression<Input>, input: Input): unknown {
  const outcome = expression.evaluate(input)
  if (outcome.kind === 'error') throw new ClaimError(`${expression.text}: ${outcome.message}`)
  return outcome.value
}

function usernameOf(claims: Claims, mapping: ClaimMapping): string {
  if (mapping.kind === 'expression') {
    const name = evaluate(mapping.expression, claims)
    if (typeof name !== 'string' || name === '')
      throw new ClaimError(`${mapping.expression.text}: must be a text, as it is the user's name`)
    return name
  }
  const { claim, prefix } = mapping
  const name = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  if (typeof name !== 'string' || name === '') throw new ClaimError(`${claim}: must be a text, as it is the user's name`)
  if (claim === 'email' && claims['email_verified'] !== undefined && claims['email_verified'] !== true) {
    throw new ClaimError('email_verified: the address is not verified')
  }
  return prefix + name
}

function uidOf(claims: Claims, mapping: ClaimMapping | undefined): string {
  if (mapping === undefined) return ''
  const [what, uid] =
    mapping.kind === 'expression'
      ? [mapping.expression.text, evaluate(mapping.expression, claims)]
      : [mapping.claim, Object.hasOwn(claims, mapping.claim) ? claims[mapping.claim] : undefined]
  if (typeof uid !== 'string') throw new ClaimError(`${what}: must be a text, as it is the user's uid`)
  return uid
}

function groupsOf(claims: Claims, mapping: ClaimMapping | undefined): string[] {
  if (mapping === undefined) return []
  if (mapping.kind === 'expression') return textsOf(mapping.expression, claims)
  const { claim, prefix } = mapping
  if (!Object.hasOwn(claims, claim)) {
    refuseDistributed(claims, claim)
    return []
  }
  const value = claims[claim]
  // Some providers report no groups in this way.
  if (value === null) return []
  const groups = typeof value === 'string' ? [value] : value
  if (!isTexts(groups)) throw new ClaimError(`${claim}: must be a list of texts, as it holds groups`)
  return groups.map((group) => prefix + group)
}

function* extraOf(claims: Claims, { extra, credentialKey }: ClaimRules): Steps<Record<string, readonly string[]>> {
  const { jti } = claims
  const own = credentialKey === undefined || typeof jti !== 'string' || jti === '' ? {} : { [credentialKey]: [`JTI=${jti}`] }
  const found: [key: string, values: readonly string[]][] = []
  for (const [key, expression] of extra) {
    const values = textsOf(expression, claims)
    if (values.length > 0) found.push([key, values])
    yield
  }
  return { ...own, ...Object.fromEntries(found) }
}

/** A null or empty value is treated as absent, as in kube-apiserver. */
function textsOf(expression: ClaimExpression<Claims>, claims: Claims): string[] {
  const value = evaluate(expression, claims) ?? []
  const texts = typeof value === 'string' ? [value] : value
  if (!isTexts(texts)) throw new ClaimError(`${expression.text}: must be a text or a list of texts`)
  return texts.filter((text) => text !== '')
}

/** The claim is distributed and is not fetched: without these groups the user would have other permissions. */
function refuseDistributed({ _claim_names: names }: Claims, groupsClaim: string): void {
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, groupsClaim)) {
    throw new ClaimError(`${groupsClaim}: distributed claims are not supported, it must be in the token`)
  }
}
