import { hash } from 'node:crypto'
import type { User } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import { getOrMake } from '@orch/core/memo'
import { domainGroup, type Names } from '@orch/core/names'
import { ExpiringMap, messageOf, sleep } from '@orch/platform'
import type { Surroundings } from '../../surroundings.ts'
import { type Authentication, type Refusal, refused, type TokenAuthenticator, type TokenQuestion } from '../authenticator.ts'

/** The answer on the wire. */
interface TokenWebhookAnswer {
  readonly code: number
  readonly body: string
}

export interface TokenWebhookOptions extends Pick<Surroundings, 'names' | 'clock' | 'random'> {
  /** Posts a review in JSON; rejects without an answer in time. */
  readonly send: (body: string, timeoutMs: number) => Promise<TokenWebhookAnswer>
  readonly version: ReviewVersion
  readonly audiences: readonly string[]
  /** Cache time of a decision, of either kind; 0 for none. */
  readonly cacheTtlMs: number
}

/**
 * Asks a remote server for the user of a token. Decisions are cached under a hash of the token; equal requests share one answer; temporary failures are
 * retried, and never cached.
 */
export function createWebhookAuthenticator(options: TokenWebhookOptions): TokenAuthenticator {
  const { clock, cacheTtlMs } = options
  const remembered = new ExpiringMap<Authentication>(limits.decisionsMax, clock)
  const pending = new Map<string, Promise<Authentication>>()

  const ask = async (key: string, token: string, question: TokenQuestion): Promise<Authentication> => {
    try {
      const decision = { ...(await review(token, question, options)), keptMsMax: cacheTtlMs }
      remembered.set(key, decision, cacheTtlMs)
      return decision
    } catch (error) {
      return { ...refused(`the webhook has not decided: ${messageOf(error)}`), keptMsMax: 0 }
    } finally {
      pending.delete(key)
    }
  }

  return {
    name: 'webhook',
    authenticate(token, question) {
      const key = hash('sha256', JSON.stringify([question.audiences, token]), 'base64')
      const known = remembered.get(key)
      // Another cache may store it for the remaining time.
      if (known !== undefined) return { ...known.value, keptMsMax: known.leftMs }
      return getOrMake(pending, key, () => ask(key, token, question))
    },
  }
}

async function review(token: string, { audiences, timeoutMs }: TokenQuestion, options: TokenWebhookOptions): Promise<ReviewDecision> {
  const { version, names } = options
  const body = await answerTo(printReview({ token, audiences, version, names }), timeoutMs, options)
  return parseReview(body, { audiences, ownAudiences: options.audiences, version, names })
}

async function answerTo(question: string, timeoutMs: number, { send, clock, random }: TokenWebhookOptions): Promise<string> {
  const endsMs = clock.monotonic() + timeoutMs
  let failure: unknown = new Error('there was no time to ask')
  for (let attempt = 0; attempt < limits.attemptsMax; attempt += 1) {
    if (attempt > 0) await sleep(clock, limits.pauseMs * 1.5 ** (attempt - 1) * (1 + 0.2 * random()))
    const leftMs = endsMs - clock.monotonic()
    if (leftMs <= 0) break
    try {
      const { code, body } = await send(question, Math.min(leftMs, limits.attemptMs))
      if (code >= 200 && code < 300) return body
      failure = new Error(`it has answered ${code}`)
      if (code < 500 && code !== 429) break
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** Limits of requests to a token webhook, each with the reason for its number. */
const limits = {
  /** Attempts of one request, with growing delays, all within the deadline of the request. */
  attemptsMax: 5,
  /** First delay between two attempts, which grows by half with each further one. */
  pauseMs: 500,
  /** Maximum duration of an attempt. */
  attemptMs: 10_000,
  /** Maximum number of cached decisions; the oldest is dropped first. */
  decisionsMax: 4_096,
} as const

/** Its name in explanations. */
const method = 'token, by the webhook'

/** The other server's decision. */
type ReviewDecision = Exclude<Authentication, { kind: 'none' }>

/** Version of the sent reviews. */
type ReviewVersion = 'v1' | 'v1beta1'

/** A request to the other server, in JSON. */
function printReview(options: { token: string; audiences: readonly string[]; version: ReviewVersion; names: Names }): string {
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
function parseReview(
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
