import { hash } from 'node:crypto'
import { messageOf, sleep } from '@orch/platform'
import type { Surroundings } from '../../surroundings.ts'
import { type Authentication, refused, type TokenAuthenticator, type TokenQuestion } from '../authenticator.ts'
import { parseReview, printReview, type ReviewDecision, type ReviewVersion } from './review.ts'

/** The answer on the wire. */
interface TokenWebhookAnswer {
  readonly code: number
  readonly body: string
}

export interface TokenWebhookOptions extends Pick<Surroundings, 'names' | 'clock' | 'random'> {
  /** Posts a review in JSON; rejects without an answer in time. */
  readonly send: (body: string, timeoutMs: number) => Promise<TokenWebhookAnswer>
  readonly version: ReviewVersion
  /** Audiences of this server. */
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
  const remembered = new Map<string, { readonly decision: Authentication; readonly untilMs: number }>()
  const pending = new Map<string, Promise<Authentication>>()

  const remember = (key: string, decision: Authentication) => {
    if (cacheTtlMs === 0) return
    // A map keeps insertion order.
    const [oldest] = remembered.size >= limits.decisionsMax ? remembered.keys() : []
    if (oldest !== undefined) remembered.delete(oldest)
    remembered.set(key, { decision, untilMs: clock.monotonic() + cacheTtlMs })
  }
  const ask = async (key: string, token: string, question: TokenQuestion): Promise<Authentication> => {
    try {
      const decision = { ...(await review(token, question, options)), keptMsMax: cacheTtlMs }
      remember(key, decision)
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
      const leftMs = (known?.untilMs ?? 0) - clock.monotonic()
      // Another cache may store it for the remaining time.
      if (known !== undefined && leftMs > 0) return { ...known.decision, keptMsMax: leftMs }
      remembered.delete(key)
      const asked = pending.get(key) ?? ask(key, token, question)
      if (pending.get(key) === undefined) pending.set(key, asked)
      return asked
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
