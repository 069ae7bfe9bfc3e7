import type { User } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import { domainGroup, type Names } from '@orch/core/names'
import { type Authentication, type Refusal, refused } from '../authenticator.ts'

/** Its name in explanations. */
const method = 'token, by the webhook'

/** The other server's decision. */
export type ReviewDecision = Exclude<Authentication, { kind: 'none' }>

/** Version of the sent reviews. */
export type ReviewVersion = 'v1' | 'v1beta1'

/** A request to the other server, in JSON. */
export function printReview(options: { token: string; audiences: readonly string[]; version: ReviewVersion; names: Names }): string {
  const { token, audiences, version, names } = options
  return JSON.stringify({
    kind: 'TokenReview',
    apiVersion: `${domainGroup(names, 'authentication')}/${version}`,
    metadata: { creationTimestamp: null },
    spec: { token, ...(audiences.length === 0 ? {} : { audiences }) },
    status: { user: {} },
  })
}

/** Parses the other server's answer; a malformed one throws. Nothing of the question is read from the answer. */
export function parseReview(
  body: string,
  expected: { audiences: readonly string[]; ownAudiences: readonly string[]; version: ReviewVersion; names: Names },
): ReviewDecision {
  const answer = toMap(JSON.parse(body), 'the answer')
  const apiVersion = `${domainGroup(expected.names, 'authentication')}/${expected.version}`
  if (answer['kind'] !== 'TokenReview' || answer['apiVersion'] !== apiVersion)
    throw new Error(`the answer is no TokenReview of ${apiVersion}`)
  const status = toMap(answer['status'] ?? {}, 'status')
  const authenticated = status['authenticated'] ?? false
  if (typeof authenticated !== 'boolean') throw new Error('status.authenticated: must be true or false')
  const audiences = toTexts(status['audiences'] ?? [], 'status.audiences')
  if (!authenticated) return refusalFor(toText(status['error'] ?? '', 'status.error'))
  const user = toUser(toMap(status['user'] ?? {}, 'status.user'))
  if (expected.audiences.length === 0) return { kind: 'user', user, method }
  // An answer without audiences is only for this server.
  const granted = audiences.length === 0 ? expected.ownAudiences : audiences
  const common = expected.audiences.filter((audience) => granted.includes(audience))
  return common.length === 0 ? refused('the token is for others') : { kind: 'user', user, method, audiences: common }
}

function refusalFor(detail: string): Refusal {
  return detail === '' ? refused('the webhook says no') : { ...refused(detail), detail }
}

type Fields = Readonly<Record<string, unknown>>

function toUser({ username, uid, groups, extra }: Fields): User {
  const name = toText(username ?? '', 'status.user.username')
  if (name === '') throw new Error('status.user.username: required')
  return {
    name,
    uid: toText(uid ?? '', 'status.user.uid'),
    groups: toTexts(groups ?? [], 'status.user.groups'),
    extra: toExtra(toMap(extra ?? {}, 'status.user.extra')),
  }
}

function toExtra(fields: Fields): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = Object.create(null)
  for (const [key, values] of Object.entries(fields)) extra[key] = toTexts(values ?? [], `status.user.extra[${JSON.stringify(key)}]`)
  return extra
}

function toMap(value: unknown, what: string): Fields {
  if (!isJsonObject(value)) throw new Error(`${what}: must be a map`)
  return value
}

function toText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what}: must be a text`)
  return value
}

function toTexts(value: unknown, what: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw new Error(`${what}: must be a list of texts`)
  return value
}
