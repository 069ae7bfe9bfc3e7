import type { User } from '@orch/core/contracts'
import type { AccessCondition } from '@orch/core/expressions'
import { getOrMake } from '@orch/core/memo'
import { domainGroup } from '@orch/core/names'
import { parseFieldSelector, parseLabelSelector } from '@orch/core/selectors'
import { type Steps, timed } from '@orch/core/steps'
import { ExpiringMap, messageOf, pauses, runWithPauses, sleep, systemCodeOf } from '@orch/platform'
import { limits } from '../limits.ts'
import type { Surroundings } from '../surroundings.ts'
import type { AccessWebhookMetrics } from './authorization-metrics.ts'
import type { Access, Authorizer, Decision, KnownRules, SelectorTexts } from './authorizer.ts'

/** The remote server's answer to a review. */
export interface ReviewAnswer {
  readonly code: number
  readonly body: string
}

export interface AccessWebhookOptions extends Pick<Surroundings, 'names' | 'clock' | 'random'> {
  /** Sends a review in JSON; rejects without an answer in time. */
  readonly send: (body: string) => Promise<ReviewAnswer>
  /** Version of the sent reviews. */
  readonly version: 'v1' | 'v1beta1'
  /** Lifetime of a cached approval; 0 for none. */
  readonly authorizedTtlMs: number
  /** Lifetime of a cached refusal; 0 for none. */
  readonly unauthorizedTtlMs: number
  /** The decision without an answer, or with a failed condition; NoOpinion by default. */
  readonly failurePolicy?: 'NoOpinion' | 'Deny'
  /** The webhook is called if all are true; by default always. */
  readonly conditions?: readonly AccessCondition[]
  /** Undefined if nothing is counted. */
  readonly counted?: AccessWebhookMetrics
}

/**
 * Asks a remote server by a SubjectAccessReview. Answers are cached, equal requests share one answer, and temporary failures are retried. Without an
 * answer the failure policy decides, and the decision has an error.
 */
export function createAccessWebhook(options: AccessWebhookOptions): Authorizer {
  const { clock, conditions = [], counted } = options
  const failed = (error: string): Decision => ({ kind: options.failurePolicy === 'Deny' ? 'deny' : 'noOpinion', reason: '', error })
  const remembered = new ExpiringMap<Decision>(limits.accessAnswersMax, clock)
  const pending = new Map<string, Promise<Decision>>()

  const ask = async (question: string): Promise<Decision> => {
    try {
      const answer = await answerTo(question, options)
      if (answer.kind !== 'failure') {
        const ttlMs = answer.kind === 'allow' ? options.authorizedTtlMs : options.unauthorizedTtlMs
        if (question.length <= limits.accessQuestionLengthMax) remembered.set(question, answer, ttlMs)
        return answer
      }
      const decision = failed(messageOf(answer.error))
      if (decision.kind === 'noOpinion') counted?.failedOpen(answer.result)
      return decision
    } finally {
      pending.delete(question)
    }
  }

  return {
    async authorize(user, access) {
      const evaluation = timed(meet(conditions, user, access), () => clock.monotonic())
      const { result: met, elapsedMs } = await runWithPauses(evaluation, pauses())
      if (conditions.length > 0) counted?.conditions(typeof met === 'string' ? met : 'error', elapsedMs / 1000)
      if (met !== 'met') return met === 'unmet' ? noOpinion : failed(met.error)
      const question = JSON.stringify(reviewOf(user, access, options))
      const known = remembered.get(question)
      if (known !== undefined) return known.value
      return getOrMake(pending, question, () => ask(question))
    },
    decided: counted?.decided,
    rulesOf: () => webhookRules,
  }
}

/** A user's known rules with a webhook. */
export const webhookRules: KnownRules = { rules: [], isIncomplete: true, error: 'webhook authorizer does not support user rule resolution' }

const noOpinion: Decision = { kind: 'noOpinion', reason: '' }

type Met = 'met' | 'unmet' | { readonly error: string }

/** Evaluates conditions, each in a step. A false one takes precedence over errors of others. */
function* meet(conditions: readonly AccessCondition[], user: User, access: Access): Steps<Met> {
  if (conditions.length === 0) return 'met'
  const { name, groups, uid, extra } = user
  const review = { user: name, groups, uid, extra, ...attributesOf(access) }
  const errors: string[] = []
  for (const { text, evaluate } of conditions) {
    const outcome = evaluate(review)
    if (outcome.kind === 'error') errors.push(`cel evaluation error: expression '${text}' resulted in error: ${outcome.message}`)
    else if (outcome.value !== true) return 'unmet'
    yield
  }
  return errors.length === 0 ? 'met' : { error: errors.join(', ') }
}

function reviewOf(user: User, access: Access, { names, version }: AccessWebhookOptions): unknown {
  const { name, groups, uid, extra } = user
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `${domainGroup(names, 'authorization')}/${version}`,
    metadata: { creationTimestamp: null },
    spec: {
      ...attributesOf(access),
      ...(name === '' ? {} : { user: name }),
      // The older version has another name for it.
      ...(groups.length === 0 ? {} : { [version === 'v1' ? 'groups' : 'group']: groups }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
      ...(uid === '' ? {} : { uid }),
    },
    status: { allowed: false },
  }
}

function attributesOf(access: Access): Record<string, unknown> {
  if (access.kind === 'path') return { nonResourceAttributes: { path: access.path, verb: access.verb } }
  const { namespace, verb, group, version, resource, subresource, name } = access
  const attributes = Object.entries({ namespace, verb, group, version, resource, subresource, name })
  const texts = Object.fromEntries(attributes.filter(([, value]) => value !== ''))
  return { resourceAttributes: { ...texts, ...selectorAttributes(access.selectors) } }
}

/** The reason without a decision. */
interface Failure {
  readonly kind: 'failure'
  readonly error: unknown
  readonly result: 'timeout' | 'error'
  /** A later repetition may be answered. */
  readonly mayPass: boolean
}

/** Sends requests until there is a decision, or a permanent failure. Each sent request is counted. */
async function answerTo(question: string, options: AccessWebhookOptions): Promise<Decision | Failure> {
  const { clock, random, counted } = options
  for (let attempt = 1; ; attempt += 1) {
    const startMs = clock.monotonic()
    const answer = await askOnce(question, options)
    counted?.asked(answer.kind === 'failure' ? answer.result : 'success', (clock.monotonic() - startMs) / 1000)
    if (answer.kind !== 'failure' || !answer.mayPass || attempt === limits.accessAttemptsMax) return answer
    await sleep(clock, limits.accessRetryMs * 1.5 ** (attempt - 1) * (1 + 0.2 * random()))
  }
}

async function askOnce(question: string, options: AccessWebhookOptions): Promise<Decision | Failure> {
  let answer: ReviewAnswer
  try {
    answer = await options.send(question)
  } catch (error) {
    // As in kube-apiserver, a request waits for one time limit, not for that of each attempt.
    const isLate = isTimeout(error)
    return { kind: 'failure', error, result: isLate ? 'timeout' : 'error', mayPass: !isLate }
  }
  const { code, body } = answer
  if (code < 200 || code >= 300) {
    const error = new Error(`the authorization webhook has answered ${code}`)
    return { kind: 'failure', error, result: code === 504 ? 'timeout' : 'error', mayPass: code >= 500 || code === 429 }
  }
  try {
    return decisionIn(body, options)
  } catch (error) {
    return { kind: 'failure', error, result: 'error', mayPass: false }
  }
}

/** Messages of timeouts and sockets. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || systemCodeOf(error) === 'ETIMEDOUT' || isTimeout(error.cause))
}

function decisionIn(body: string, { names, version }: AccessWebhookOptions): Decision {
  const answer = readAnswer(body)
  const expected = `${domainGroup(names, 'authorization')}/${version}`
  if (answer.kind !== 'SubjectAccessReview' || answer.apiVersion !== expected) {
    throw new Error(`the authorization webhook has answered something else than a SubjectAccessReview of ${expected}`)
  }
  const { allowed, denied = false, reason = '' } = answer.status ?? {}
  if (typeof allowed !== 'boolean' || typeof denied !== 'boolean' || typeof reason !== 'string') {
    throw new Error('the authorization webhook has answered without a decision')
  }
  // An answer that both allows and denies is invalid: it must neither allow the request nor let a later mode override the denial.
  if (allowed && denied) return { kind: 'deny', reason, error: 'webhook subject access review returned both allow and deny response' }
  const kind = allowed ? 'allow' : denied ? 'deny' : 'noOpinion'
  return { kind, reason }
}

interface Answer {
  readonly kind?: unknown
  readonly apiVersion?: unknown
  readonly status?: { readonly allowed?: unknown; readonly denied?: unknown; readonly reason?: unknown }
}

function readAnswer(body: string): Answer {
  try {
    const answer: unknown = JSON.parse(body)
    if (typeof answer === 'object' && answer !== null) return answer
  } catch (error) {
    throw new Error('the authorization webhook has answered something else than JSON', { cause: error })
  }
  throw new Error('the authorization webhook has answered something else than an object')
}

/** One term of a selector in the form of reviews. */
interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** The selectors in a review. A term that reviews cannot express, and an invalid selector, is omitted: the review then asks for more. */
function selectorAttributes(selectors: SelectorTexts | undefined): Readonly<Record<string, unknown>> {
  if (selectors === undefined) return {}
  return { ...named('fieldSelector', fieldRequirements(selectors.field)), ...named('labelSelector', labelRequirements(selectors.label)) }
}

function named(name: string, requirements: readonly Requirement[]): Readonly<Record<string, unknown>> {
  return requirements.length === 0 ? {} : { [name]: { requirements } }
}

function fieldRequirements(text: string): Requirement[] {
  const reading = parseFieldSelector(text)
  if (reading.kind === 'malformed') return []
  return reading.requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === 'Equals' ? 'In' : 'NotIn',
    values: [value],
  }))
}

const sayable: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

function labelRequirements(text: string): Requirement[] {
  const reading = parseLabelSelector(text)
  if (reading.kind === 'malformed') return []
  return reading.requirements
    .filter(({ operator }) => sayable.has(operator))
    .map(({ key, operator, values }) => ({ key, operator, ...(values.length === 0 ? {} : { values }) }))
}
