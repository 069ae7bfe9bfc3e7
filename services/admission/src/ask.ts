import type {
  AdmissionAccess,
  AdmissionAnswer,
  AdmissionRequest,
  AdmissionStep,
  Attributes,
  AuditAnnotation,
  CallContext,
  MetricCount,
} from '@orch/core'
import type { Clock, Span, Tracer } from '@orch/platform'
import { differences } from './json-difference.ts'
import type { Conditions, Inquiry, Plugin, Reinvocation, Verdict } from './plugin.ts'

export type Phase = 'mutate' | 'validate'

export interface AskNeeds {
  /** Those who are interested, in order. */
  readonly plugins: readonly Plugin[]
  readonly clock: Clock
  readonly context: CallContext
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined
}

/** What has been said so far. */
interface Said {
  readonly warnings: string[]
  readonly auditAnnotations: AuditAnnotation[]
  readonly steps: AdmissionStep[]
  readonly counts: MetricCount[]
  readonly conditions: Conditions[number][]
  readonly reservations: string[]
}

/**
 * Each plugin sees the object as the one before left it; the first refusal ends the round. When a mutating plugin wants it,
 * all are asked once more.
 */
export async function ask(request: AdmissionRequest, phase: Phase, needs: AskNeeds): Promise<AdmissionAnswer> {
  const said: Said = { warnings: [], auditAnnotations: [], steps: [], counts: [], conditions: [], reservations: [] }
  const first = request.attributes
  const memory = new Map<unknown, unknown>()
  let isSecondRoundWanted = false
  const inquiryOf = (round: number): Inquiry => {
    const wantSecondRound = () => {
      isSecondRoundWanted = true
    }
    const reinvocation: Reinvocation = { isSecondRound: round === 1, request: wantSecondRound, memory }
    return { reinvocation, context: needs.context, explain: request.explain, decisionOn: (access) => decisionOn(request, access) }
  }
  let attributes = first
  const rounds = phase === 'mutate' ? 2 : 1
  for (let round = 0; round < rounds && (round === 0 || isSecondRoundWanted); round++) {
    const end = await askRound(attributes, { request, phase, round, inquiry: inquiryOf(round), said, needs })
    if (end.kind !== 'allowed') return end.answer
    attributes = end.attributes
  }
  return { kind: 'allowed', object: attributes.object === first.object ? undefined : attributes.object, ...said }
}

interface Round {
  readonly request: AdmissionRequest
  readonly phase: Phase
  readonly round: number
  readonly inquiry: Inquiry
  readonly said: Said
  readonly needs: AskNeeds
}

type RoundEnd =
  | { readonly kind: 'allowed'; readonly attributes: Attributes }
  | { readonly kind: 'answered'; readonly answer: AdmissionAnswer }

async function askRound(first: Attributes, { request, phase, round, inquiry, said, needs }: Round): Promise<RoundEnd> {
  const { plugins, clock } = needs
  let attributes = first
  // An earlier plugin may have lost its interest meanwhile: then the one after it goes on.
  const start = request.resumeAt === '' ? 0 : plugins.findIndex(({ name }) => name === request.resumeAt)
  let startedMs = clock.monotonic()
  for (let index = Math.max(0, start); index < plugins.length; index++) {
    const plugin = plugins[index] as Plugin
    // A method that is called through `?.()` keeps its plugin; most answer without a promise.
    const span = beginSpan(plugin, phase, needs)
    const pending = plugin[phase]?.(attributes, span === undefined ? inquiry : below(inquiry, span))
    const verdict = pending instanceof Promise ? await ending(pending, span) : pending
    if (!(pending instanceof Promise)) span?.end()
    if (verdict === undefined) {
      // One that has nothing to say at once has taken no time.
      if (pending instanceof Promise) startedMs = clock.monotonic()
      continue
    }
    keep(verdict, said)
    if (verdict.kind === 'asks') {
      const { accesses } = verdict
      return { kind: 'answered', answer: { kind: 'asks', accesses, namespaces: [], resumeAt: plugin.name, ...said } }
    }
    if (verdict.kind === 'needs') {
      const namespaces = [verdict.namespace]
      return { kind: 'answered', answer: { kind: 'asks', accesses: [], namespaces, resumeAt: plugin.name, ...said } }
    }
    const endedMs = clock.monotonic()
    const step = stepOf(plugin.name, endedMs - startedMs, round, verdict, request.explain)
    startedMs = endedMs
    said.steps.push(request.explain ? withPatch(step, attributes, verdict) : step)
    if (verdict.kind === 'denied') return { kind: 'answered', answer: { kind: 'denied', status: verdict.error.status, ...said } }
    if (verdict.object !== undefined) attributes = { ...attributes, object: verdict.object }
  }
  return { kind: 'allowed', attributes }
}

/** A span for each plugin, where the request is traced. */
function beginSpan({ name }: Plugin, phase: Phase, { tracer, context: { traceparent } }: AskNeeds): Span | undefined {
  return traceparent === undefined ? undefined : tracer?.start(`${phase} ${name}`, { kind: 'internal', parent: traceparent })
}

/** What the plugin does hangs below its span. */
function below(inquiry: Inquiry, { traceparent }: Span): Inquiry {
  return { ...inquiry, context: { ...inquiry.context, traceparent } }
}

async function ending<T>(work: Promise<T>, span: Span | undefined): Promise<T> {
  try {
    return await work
  } catch (error) {
    span?.fail(error)
    throw error
  } finally {
    span?.end()
  }
}

function stepOf(plugin: string, durationMs: number, round: number, verdict: Verdict, explain: boolean): AdmissionStep {
  const isRejected = verdict.kind === 'denied'
  const reason = explain && isRejected ? verdict.error.status.message : undefined
  return { plugin, webhook: '', durationMs, isRejected, round, reason }
}

/** Webhooks tell of their patches themselves. */
function withPatch(step: AdmissionStep, { object }: Attributes, verdict: Verdict): AdmissionStep {
  if (verdict.kind !== 'allowed' || verdict.object === undefined || (verdict.steps ?? []).length > 0) return step
  const patch = differences(object, verdict.object)
  return patch.length === 0 ? step : { ...step, patch }
}

function keep(verdict: Verdict, said: Said): void {
  const { warnings, auditAnnotations, steps, counts } = verdict
  if (warnings !== undefined) said.warnings.push(...warnings)
  if (auditAnnotations !== undefined) said.auditAnnotations.push(...auditAnnotations)
  if (steps !== undefined) said.steps.push(...steps)
  if (counts !== undefined) said.counts.push(...counts)
  if (verdict.kind !== 'allowed') return
  if (verdict.conditions !== undefined) said.conditions.push(...verdict.conditions)
  if (verdict.reservations !== undefined) said.reservations.push(...verdict.reservations)
}

function decisionOn({ decisions }: AdmissionRequest, asked: AdmissionAccess) {
  return decisions.find(({ access }) => {
    return (
      access.verb === asked.verb &&
      access.group === asked.group &&
      access.version === asked.version &&
      access.resource === asked.resource &&
      access.subresource === asked.subresource &&
      access.namespace === asked.namespace &&
      access.name === asked.name
    )
  })
}
