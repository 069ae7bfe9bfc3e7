import type { AdmissionStep, AuditAnnotation, MetricCount } from '@orch/core/contracts'
import type { Inquiry, VerdictDetails } from '../plugin.ts'
import { countsOf, errorOf, type WebhookOutcome, type WebhookQuestion } from './ask-webhook.ts'

/** Collects the details of the verdict on one request, call by call. */
export class DetailsCollector {
  readonly #plugin: string
  readonly #inquiry: Pick<Inquiry, 'explain' | 'reinvocation'>
  readonly #warnings: string[] = []
  readonly #annotations: AuditAnnotation[] = []
  readonly #steps: AdmissionStep[] = []
  readonly #counts: MetricCount[] = []

  constructor(plugin: string, inquiry: Pick<Inquiry, 'explain' | 'reinvocation'>) {
    this.#plugin = plugin
    this.#inquiry = inquiry
  }

  get all(): VerdictDetails {
    return { warnings: this.#warnings, auditAnnotations: this.#annotations, steps: this.#steps, counts: this.#counts }
  }

  /** Adds the result of a call. `patch` is its change. */
  keep(question: WebhookQuestion, outcome: WebhookOutcome, durationMs: number, patch?: readonly unknown[]): void {
    const { webhook } = question
    const error = errorOf(question, outcome)
    this.#counts.push(...countsOf(question, outcome))
    const reason = outcome.kind === 'failed' ? outcome.message : error?.status.message
    this.#steps.push({
      plugin: this.#plugin,
      webhook: webhook.name,
      durationMs,
      isRejected: error !== undefined,
      round: this.#inquiry.reinvocation.isSecondRound ? 1 : 0,
      patch: this.#inquiry.explain ? patch : undefined,
      reason: this.#inquiry.explain ? reason : undefined,
    })
    if (outcome.kind === 'failed' || outcome.review === undefined) return
    for (const warning of outcome.review.warnings) this.#warnings.push(warning)
    for (const [key, value] of Object.entries(outcome.review.auditAnnotations)) this.annotate(`${webhook.name}/${key}`, value)
  }

  annotate(key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void {
    this.#annotations.push({ key, value, level })
  }
}
