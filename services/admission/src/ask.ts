import type {
  AdmissionAccess,
  AdmissionAnswer,
  AdmissionRequest,
  AdmissionStep,
  Attributes,
  AuditAnnotation,
  CallContext,
  MetricCount,
  Validated,
} from '@orch/core'
import type { Clock, Span, Tracer } from '@orch/platform'
import { differences } from './json-difference.ts'
import { allowed, type Conditions, type Inquiry, type Plugin, type Reinvocation, type Verdict } from './plugin.ts'

export type Phase = 'mutate' | 'validate'

export interface AskNeeds {
  /** Those who are interested, in order. */
  readonly plugins: readonly Plugin[]
  /** Of `mutate`: those who are interested in validating the same. */
  readonly validating: readonly Plugin[]
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
  const question = new Question(request, phase, request.attributes, needs)
  const { plugins } = needs
  // The one that asked may have lost its interest meanwhile: then all are asked.
  const start = Math.max(0, request.resumeAt === '' ? 0 : indexOf(request.resumeAt, plugins))
  for (let round = 0; round < 1 || (round < 2 && question.isSecondRoundWanted); round++) {
    const inquiry = question.inquiryOf(round)
    for (let index = round === 0 ? start : 0; index < plugins.length; index++) {
      const plugin = plugins[index] as Plugin
      const span = beginSpan(plugin, phase, needs)
      // Most answer without a promise.
      const pending = begin(plugin, phase, question.attributes, inquiry, span)
      const verdict = pending instanceof Promise ? await ending(pending, span) : pending
      if (!(pending instanceof Promise)) span?.end()
      // One that has nothing to say at once has taken no time.
      if (verdict === undefined && pending instanceof Promise) question.goOn()
      const answer = verdict === undefined ? undefined : question.take(plugin, verdict, round)
      if (answer !== undefined) return answer
    }
  }
  return question.allowed(validateAtOnce(request, question.attributes, needs))
}

/** Saves the gateway the second call where all who validate only look, and have nothing against it. */
function validateAtOnce(request: AdmissionRequest, attributes: Attributes, needs: AskNeeds): Validated | undefined {
  const { validating } = needs
  if (validating.length === 0 || !validating.every((plugin) => plugin.looksOnly?.(attributes) === true)) return undefined
  const question = new Question(request, 'validate', attributes, needs)
  const inquiry = question.inquiryOf(0)
  for (const plugin of validating) {
    const verdict = verdictAtOnce(plugin, attributes, inquiry, needs)
    if (verdict?.kind !== 'allowed') return undefined
    question.take(plugin, verdict, 0)
  }
  return question.validated()
}

/** Undefined: not at once, or the object is not as it must be, which the gateway finds out before it asks. */
function verdictAtOnce(plugin: Plugin, attributes: Attributes, inquiry: Inquiry, needs: AskNeeds): Verdict | undefined {
  const span = beginSpan(plugin, 'validate', needs)
  try {
    const pending = begin(plugin, 'validate', attributes, inquiry, span)
    if (!(pending instanceof Promise)) {
      span?.end()
      return pending ?? allowed
    }
    ending(pending, span).catch(() => undefined)
  } catch {
    // The span has told what it was.
  }
  return undefined
}

/** What is asked, and what has been said to it so far. */
class Question {
  readonly #request: AdmissionRequest
  readonly #phase: Phase
  readonly #clock: Clock
  readonly #context: CallContext
  readonly #said: Said = { warnings: [], auditAnnotations: [], steps: [], counts: [], conditions: [], reservations: [] }
  #startedMs: number
  #memory: Map<unknown, unknown> | undefined
  /** As the last plugin has left them. */
  attributes: Attributes
  isSecondRoundWanted = false

  constructor(request: AdmissionRequest, phase: Phase, attributes: Attributes, { clock, context }: AskNeeds) {
    this.#request = request
    this.#clock = clock
    this.#context = context
    this.attributes = attributes
    this.#startedMs = clock.monotonic()
    this.#phase = phase
  }

  inquiryOf(round: number): Inquiry {
    const request = this.#request
    const reinvocation = new Round(this, round)
    return { reinvocation, context: this.#context, explain: request.explain, decisionOn: (access) => decisionOn(request, access) }
  }

  wantSecondRound(): void {
    // Only what may be changed can be looked at again.
    this.isSecondRoundWanted = this.#phase === 'mutate'
  }

  /** Almost nobody keeps anything. */
  get memory(): Map<unknown, unknown> {
    this.#memory ??= new Map()
    return this.#memory
  }

  goOn(): void {
    this.#startedMs = this.#clock.monotonic()
  }

  /** The answer, if the verdict is the last one. */
  take(plugin: Plugin, verdict: Verdict, round: number): AdmissionAnswer | undefined {
    const said = this.#said
    const { explain } = this.#request
    if (verdict !== allowed) keep(verdict, said)
    if (verdict.kind === 'asks') return { ...said, kind: 'asks', accesses: verdict.accesses, namespaces: [], resumeAt: plugin.name }
    if (verdict.kind === 'needs') return { ...said, kind: 'asks', accesses: [], namespaces: [verdict.namespace], resumeAt: plugin.name }
    const endedMs = this.#clock.monotonic()
    const step = stepOf(plugin.name, endedMs - this.#startedMs, round, verdict, explain)
    this.#startedMs = endedMs
    said.steps.push(explain ? withPatch(step, this.attributes, verdict) : step)
    if (verdict.kind === 'denied') return { ...said, kind: 'denied', status: verdict.error.status }
    if (verdict.object !== undefined) this.attributes = { ...this.attributes, object: verdict.object }
    return undefined
  }

  allowed(validated: Validated | undefined): AdmissionAnswer {
    const { object } = this.attributes
    return { ...this.#said, kind: 'allowed', object: object === this.#request.attributes.object ? undefined : object, validated }
  }

  validated(): Validated {
    return this.#said
  }
}

function indexOf(wanted: string, plugins: readonly Plugin[]): number {
  return plugins.findIndex(({ name }) => name === wanted)
}

/** A class, as an object of its own with a getter would have a hidden class of its own. */
class Round implements Reinvocation {
  readonly #question: Question
  readonly isSecondRound: boolean

  constructor(question: Question, round: number) {
    this.#question = question
    this.isSecondRound = round === 1
  }

  get memory(): Map<unknown, unknown> {
    return this.#question.memory
  }

  request(): void {
    this.#question.wantSecondRound()
  }
}

/** A span for each plugin, where the request is traced. */
function beginSpan({ name }: Plugin, phase: Phase, { tracer, context: { traceparent } }: AskNeeds): Span | undefined {
  return traceparent === undefined ? undefined : tracer?.start(`${phase} ${name}`, { kind: 'internal', parent: traceparent })
}

/** What the plugin does hangs below its span. */
function below(inquiry: Inquiry, { traceparent }: Span): Inquiry {
  return { ...inquiry, context: { ...inquiry.context, traceparent } }
}

function begin(plugin: Plugin, phase: Phase, attributes: Attributes, inquiry: Inquiry, span: Span | undefined) {
  // A method that is called through `?.()` keeps its plugin.
  if (span === undefined) return plugin[phase]?.(attributes, inquiry)
  try {
    return plugin[phase]?.(attributes, below(inquiry, span))
  } catch (error) {
    span.fail(error)
    span.end()
    throw error
  }
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
