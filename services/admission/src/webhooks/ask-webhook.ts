import type { MetricCount } from '@orch/core/contracts'
import { badRequest, internal, relayed, type Status, StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { CallAnswer, WebhookCaller } from '@orch/platform/webhooks'
import type { PluginNeeds } from '../plugin.ts'
import { chooseReviewVersion, printReview, type Question, type Review, type ReviewVersion, readReview } from './review.ts'
import type { Webhook } from './webhook.ts'

/** The dependencies of calling. */
export interface AskWebhookNeeds extends Pick<PluginNeeds, 'clock' | 'log' | 'tracer'> {
  readonly caller: WebhookCaller
  readonly names: Names
  /** Draws the uid of a review. */
  readonly reviewUid: () => string
}

/** One webhook and its request. */
export interface WebhookQuestion extends Omit<Question, 'version' | 'uid'> {
  readonly webhook: Webhook
  readonly isMutating: boolean
  readonly deadline: Deadline
  /** Span of the plugin; undefined without tracing. */
  readonly traceparent: string | undefined
}

/** Deadline of the request. */
export interface Deadline {
  remainingMs(): number
  readonly signal: AbortSignal | undefined
}

/** The result of a call. */
export type WebhookOutcome =
  | { readonly kind: 'allowed'; readonly review: Review }
  | { readonly kind: 'denied'; readonly review: Review; readonly error: StatusError }
  /** An invalid answer, for which the failure policy decides. `code` is for the metrics. */
  | { readonly kind: 'failed'; readonly error: StatusError; readonly code: number; readonly message: string }
  /** The request must fail, with any failure policy. */
  | { readonly kind: 'impossible'; readonly error: StatusError; readonly review?: Review }

/** Calls one webhook. */
export async function askWebhook(
  question: WebhookQuestion,
  { caller, names, reviewUid, tracer }: AskWebhookNeeds,
): Promise<WebhookOutcome> {
  const { webhook, attributes, deadline } = question
  if (attributes.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
    return { kind: 'impossible', error: badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`) }
  }
  const version = chooseReviewVersion(webhook.reviewVersions)
  if (version === undefined) {
    const why = `webhook does not accept known AdmissionReview versions (v1, v1beta1), but ${JSON.stringify(webhook.reviewVersions)}`
    return failure(webhook, `could not create admission objects: ${why}`, 400)
  }
  const uid = reviewUid()
  const body = printReview({ ...question, version, uid }, names)
  const timeoutMs = Math.min(webhook.timeoutMs, deadline.remainingMs())
  const parent = question.traceparent
  const span = parent === undefined ? undefined : tracer?.start(`call webhook ${webhook.name}`, { kind: 'client', parent })
  const traceparent = span?.traceparent ?? parent
  const outcome = checkAnswer(
    await caller.call({ webhook, to: `webhook/${webhook.name}`, body, timeoutMs, signal: deadline.signal, traceparent }),
    question,
    { version, uid },
    names,
  )
  if (outcome.kind === 'failed') span?.fail(outcome.error)
  span?.end()
  return outcome
}

function checkAnswer(
  answer: CallAnswer,
  { webhook, isMutating }: WebhookQuestion,
  asked: { readonly version: ReviewVersion; readonly uid: string },
  names: Names,
): WebhookOutcome {
  if (answer.kind === 'failed') return failure(webhook, `failed to call webhook: ${answer.message}`, answer.code ?? 400)
  const reading = readReview(answer.text, { ...asked, isMutating }, names)
  switch (reading.kind) {
    case 'unreadable':
      return failure(webhook, `failed to call webhook: ${reading.message}`, 400)
    case 'unfit':
      return failure(webhook, `received invalid webhook response: ${reading.message}`, 503)
    case 'review': {
      const { review } = reading
      return review.isAllowed ? { kind: 'allowed', review } : { kind: 'denied', review, error: denial(webhook.name, review.status) }
    }
  }
}

/** An invalid answer. */
export function failure(webhook: Webhook, why: string, code: number): WebhookOutcome {
  const message = `failed calling webhook ${JSON.stringify(webhook.name)}: ${why}`
  return { kind: 'failed', error: internal(message), code, message }
}

/** The last valid HTTP status code. */
const httpCodeMax = 999

/** A refusal with the webhook's message; a code without a failure becomes 400, and one outside of HTTP becomes 500. */
export function denial(name: string, status: Partial<Status> | undefined): StatusError {
  const given: Partial<Status> = Object.fromEntries(Object.entries(status ?? {}).filter(([, value]) => value !== null))
  const { message = '', reason = '', code = 0, details } = given
  const start = `admission webhook ${JSON.stringify(name)} denied the request`
  const text = message !== '' ? `${start}: ${message}` : reason !== '' ? `${start}: ${reason}` : `${start} without explanation`
  const { status: made } = relayed(code > httpCodeMax ? 500 : Math.max(code, 400), '', text, { details })
  return new StatusError(reason === '' ? made : { ...made, reason })
}

/** True if a failed call is ignored: then the request continues, unless its deadline has passed. */
export function isPassedOver({ webhook }: WebhookQuestion, outcome: WebhookOutcome): boolean {
  return outcome.kind === 'failed' && webhook.isIgnoredOnFailure
}

/** The error with which an outcome ends the request; undefined if the request continues. */
export function errorOf(question: WebhookQuestion, outcome: WebhookOutcome): StatusError | undefined {
  return outcome.kind === 'allowed' || isPassedOver(question, outcome) ? undefined : outcome.error
}

/** Higher codes are counted as this one, as webhooks choose their codes freely. */
const codeMax = 600

/** The counts of one call for the metrics. */
export function countsOf(question: WebhookQuestion, outcome: WebhookOutcome): readonly MetricCount[] {
  const { webhook, isMutating, attributes } = question
  const labels = { name: webhook.name, type: isMutating ? 'admit' : 'validating' }
  const code = Math.min(codeMax, codeOf(outcome))
  const isRejected = errorOf(question, outcome) !== undefined
  const { operation } = attributes
  const counts: MetricCount[] = [
    {
      name: 'apiserver_admission_webhook_request_total',
      labels: { ...labels, operation, code: String(code), rejected: String(isRejected) },
      value: 1,
    },
  ]
  if (isPassedOver(question, outcome)) counts.push({ name: 'apiserver_admission_webhook_fail_open_count', labels, value: 1 })
  if (isRejected) {
    const errorLabels = { error_type: errorTypes[outcome.kind], rejection_code: String(code) }
    counts.push({ name: 'apiserver_admission_webhook_rejection_count', labels: { ...labels, operation, ...errorLabels }, value: 1 })
  }
  return counts
}

const errorTypes = {
  allowed: 'no_error',
  denied: 'no_error',
  failed: 'calling_webhook_error',
  impossible: 'apiserver_internal_error',
} as const

function codeOf(outcome: WebhookOutcome): number {
  switch (outcome.kind) {
    case 'allowed':
      return 200
    case 'denied':
      return Math.max(outcome.error.code, outcome.review.status?.code ?? 0)
    case 'failed':
      return outcome.code
    case 'impossible':
      return 0
  }
}
