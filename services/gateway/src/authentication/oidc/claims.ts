import type { User } from '@orch/core/contracts'
import { limits } from './limits.ts'

/** Which claims make a user, and how. */
export interface ClaimRules {
  readonly issuer: string
  readonly clientId: string
  readonly usernameClaim: string
  /** Goes before the user's name; '' for none. */
  readonly usernamePrefix: string
  /** '' : groups are not taken from tokens. */
  readonly groupsClaim: string
  readonly groupsPrefix: string
  /** Claims that must be there with this very text. */
  readonly requiredClaims: Readonly<Record<string, string>>
}

/** What the claims of a token, whose signature is good, come to. */
export type ClaimsOutcome =
  | { readonly kind: 'user'; readonly user: User; readonly expiresMs: number }
  | { readonly kind: 'refused'; readonly reason: string }

type Claims = Readonly<Record<string, unknown>>

/** A claim that is not as it must be. */
class ClaimError extends Error {}

/** The user of a token. Reasons name claims, never their values. */
export function checkClaims(claims: Claims, rules: ClaimRules, nowMs: number): ClaimsOutcome {
  try {
    const expiresMs = checkTimes(claims, nowMs)
    checkAudience(claims, rules.clientId)
    checkRequired(claims, rules.requiredClaims)
    const name = usernameOf(claims, rules)
    return { kind: 'user', user: { name, uid: '', groups: groupsOf(claims, rules), extra: {} }, expiresMs }
  } catch (error) {
    if (error instanceof ClaimError) return { kind: 'refused', reason: error.message }
    throw error
  }
}

/** Only the beginning is given some room: a token that has expired stays expired. */
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

/** A token may be for others too; `azp` has who asked for it, which a required claim can pin down. */
function checkAudience({ aud, azp }: Claims, clientId: string): void {
  const audiences = typeof aud === 'string' ? [aud] : aud
  if (!isTexts(audiences)) throw new ClaimError('aud: must be a text or a list of texts')
  if (!audiences.includes(clientId)) throw new ClaimError('aud: the token is not for this client')
  if (azp !== undefined && typeof azp !== 'string') throw new ClaimError('azp: must be a text')
}

function checkRequired(claims: Claims, required: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(required)) {
    if (!Object.hasOwn(claims, name)) throw new ClaimError(`${name}: required, and missing`)
    if (claims[name] !== value) throw new ClaimError(`${name}: required to have another value`)
  }
}

function usernameOf(claims: Claims, { usernameClaim, usernamePrefix }: ClaimRules): string {
  const name = Object.hasOwn(claims, usernameClaim) ? claims[usernameClaim] : undefined
  if (typeof name !== 'string' || name === '') throw new ClaimError(`${usernameClaim}: must be a text, as it is the user's name`)
  if (usernameClaim === 'email' && claims['email_verified'] !== undefined && claims['email_verified'] !== true) {
    throw new ClaimError('email_verified: the address is not verified')
  }
  return usernamePrefix + name
}

function groupsOf(claims: Claims, { groupsClaim, groupsPrefix }: ClaimRules): string[] {
  if (groupsClaim === '') return []
  if (!Object.hasOwn(claims, groupsClaim)) {
    refuseDistributed(claims, groupsClaim)
    return []
  }
  const value = claims[groupsClaim]
  // Some providers say so that there are none.
  if (value === null) return []
  const groups = typeof value === 'string' ? [value] : value
  if (!isTexts(groups)) throw new ClaimError(`${groupsClaim}: must be a list of texts, as it holds groups`)
  return groups.map((group) => groupsPrefix + group)
}

/** The claim is distributed, and not fetched: without these groups the user would have other permissions. */
function refuseDistributed({ _claim_names: names }: Claims, groupsClaim: string): void {
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, groupsClaim)) {
    throw new ClaimError(`${groupsClaim}: distributed claims are not supported, it must be in the token`)
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
