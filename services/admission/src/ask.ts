import {
  type AccessDecision,
  type AdmissionAccess,
  type AdmissionAnswer,
  type AdmissionRequest,
  type AdmissionRule,
  type AdmissionRuleIndex,
  type AdmissionService,
  type AdmissionStep,
  type Attributes,
  type AuditAnnotation,
  type CallContext,
  createAdmissionRuleIndex,
  type MetricCount,
  type Validated,
} from '@orch/core/contracts'
import { badRequest, serviceUnavailable } from '@orch/core/meta'
import { ended, Listeners, type Span } from '@orch/platform'
import { differences } from './json-difference.ts'
import {
  allowed,
  type Conditions,
  type Inquiry,
  isSameAccess,
  type NamedPlugin,
  type PluginNeeds,
  type Reinvocation,
  type Verdict,
} from './plugin.ts'
import { streamAdmissionRules } from './stream-rules.ts'

/** The admission service, with its close function. */
export interface Admission extends AdmissionService {
  close(): void
}

/** The service over existing plugins, called in the given order. */
export function admissionOf(plugins: readonly NamedPlugin[], options: Pick<PluginNeeds, 'clock' | 'storage' | 'tracer'>): Admission {
  const { clock, storage, tracer } = options
  const closed = new AbortController()
  const indexedRules = new PluginIndex(plugins)
  return {
    admit(request, context = {}) {
      if (closed.signal.aborted) return Promise.reject(serviceUnavailable('admission is ending'))
      const { phase, attributes } = request
      if (phase !== 'mutate' && phase !== 'validate') {
        return Promise.reject(badRequest(`phase: expected mutate or validate, got "${phase}"`))
      }
      const plugins = indexedRules.index.find(phase, attributes)
      const validating = phase === 'mutate' ? indexedRules.index.find('validate', attributes) : []
      try {
        return Promise.resolve(ask(request, phase, { plugins, validating, clock, context, tracer }))
      } catch (error) {
        return Promise.reject(error)
      }
    },
    async outcome(outcome) {
      for (const plugin of plugins) await plugin.settle?.(outcome)
      return {}
    },
    admissionRules({ isSameProcess = false }, context) {
      const sources = () => plugins.flatMap((plugin) => plugin.followed?.sources ?? [])
      const made = () => ({ admissionRules: indexedRules.admissionRules, sources: sources() })
      return streamAdmissionRules({
        made,
        onChange: (listener) => indexedRules.onChange(listener),
        clock,
        storage,
        isRenewed: !isSameProcess,
        closed: closed.signal,
        context,
      })
    },
    close() {
      closed.abort(ended)
      for (const plugin of plugins) plugin.close?.()
    },
  }
}

/** The plugin of each admission rule, rebuilt when the admission rules of a plugin have changed. */
class PluginIndex {
  readonly #plugins: readonly NamedPlugin[]
  readonly #listeners = new Listeners()
  #index: AdmissionRuleIndex<NamedPlugin> | undefined
  #admissionRules: readonly AdmissionRule[] | undefined

  constructor(plugins: readonly NamedPlugin[]) {
    this.#plugins = plugins
    for (const plugin of plugins) plugin.followed?.onChange(() => this.#changed())
  }

  get index(): AdmissionRuleIndex<NamedPlugin> {
    this.#index ??= createAdmissionRuleIndex(
      this.#plugins.flatMap((value) => value.admissionRules.map((admissionRule) => ({ admissionRule, value }))),
    )
    return this.#index
  }

  get admissionRules(): readonly AdmissionRule[] {
    this.#admissionRules ??= this.#plugins.flatMap((plugin) => plugin.admissionRules)
    return this.#admissionRules
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  #changed(): void {
    this.#index = undefined
    this.#admissionRules = undefined
    this.#listeners.call()
  }
}

export type Phase = 'mutate' | 'validate'

export interface AskNeeds extends Pick<PluginNeeds, 'clock' | 'tracer'> {
  /** The matching plugins, in order. */
  readonly plugins: readonly NamedPlugin[]
  /** For `mutate`: the matching plugins for the validation of the same request. */
  readonly validating: readonly NamedPlugin[]
  readonly context: CallContext
}

/**
 * Each plugin sees the object after the previous plugin; the first refusal ends the round. A mutating plugin may request another round with all plugins.
 * The result is synchronous if no plugin must wait, and a throwing plugin makes it throw.
 */
export function ask(request: AdmissionRequest, phase: Phase, needs: AskNeeds): AdmissionAnswer | Promise<AdmissionAnswer> {
  const { plugins } = needs
  // The plugin may have lost its admission rule meanwhile: then all plugins are called.
  const resumed = plugins.findIndex(({ name }) => name === request.resumeAt)
  const start = Math.max(0, resumed)
  return new Question({ request, phase, plugins, start, attributes: request.attributes, needs }).answer()
}

/** Saves the gateway the second call if all validating plugins only read, and allow the request. */
function validateAtOnce({ request, needs }: Asked, attributes: Attributes): Validated | undefined {
  const plugins = needs.validating
  if (plugins.length === 0) return undefined
  for (const plugin of plugins) if (plugin.looksOnly?.(attributes) !== true) return undefined
  return new Question({ request, phase: 'validate', plugins, start: 0, attributes, needs }).earlyVerdict()
}

interface Asked {
  readonly request: AdmissionRequest
  readonly phase: Phase
  readonly plugins: readonly NamedPlugin[]
  /** The plugin that is called first. */
  readonly start: number
  readonly attributes: Attributes
  readonly needs: AskNeeds
}

const nothing: readonly never[] = []

/** A request and the plugins' answers so far. Plugins receive this object itself, as most read nothing of it. */
class Question implements Inquiry, Reinvocation {
  readonly #asked: Asked
  #next: number
  #isSecondRoundWanted = false
  #startedMs: number
  #memory: Map<unknown, unknown> | undefined
  /** The object after the last plugin. */
  #attributes: Attributes
  readonly #steps: AdmissionStep[] = []
  // Most plugins have no annotations, warnings or conditions.
  #warnings: readonly string[] = nothing
  #auditAnnotations: readonly AuditAnnotation[] = nothing
  #counts: readonly MetricCount[] = nothing
  #conditions: Conditions = nothing
  #reservations: readonly string[] = nothing
  isSecondRound = false

  constructor(asked: Asked) {
    this.#asked = asked
    this.#next = asked.start
    this.#attributes = asked.attributes
    this.#startedMs = asked.needs.clock.monotonic()
  }

  get context(): CallContext {
    return this.#asked.needs.context
  }

  get explain(): boolean {
    return this.#asked.request.explain
  }

  get reinvocation(): Reinvocation {
    return this
  }

  get memory(): Map<unknown, unknown> {
    this.#memory ??= new Map()
    return this.#memory
  }

  request(): void {
    // Only a mutable object can be admitted again.
    this.#isSecondRoundWanted = this.#asked.phase === 'mutate'
  }

  decisionOn(access: AdmissionAccess): AccessDecision | undefined {
    return this.#asked.request.decisions.find((decision) => isSameAccess(decision.access, access))
  }

  /** Calls the plugins one after the other, from the current position. */
  answer(): AdmissionAnswer | Promise<AdmissionAnswer> {
    for (let plugin = this.#nextPlugin(); plugin !== undefined; plugin = this.#nextPlugin()) {
      const verdict = this.#begin(plugin)
      if (verdict instanceof Promise) return this.#answerAfter(plugin, verdict)
      const answer = verdict === undefined ? undefined : this.#take(plugin, verdict)
      if (answer !== undefined) return answer
    }
    return this.#allowed()
  }

  /** The answer of all plugins if they allow the request synchronously; undefined if it is not known yet. */
  earlyVerdict(): Validated | undefined {
    for (const plugin of this.#asked.plugins) {
      const verdict = this.#verdictAtOnce(plugin)
      if (verdict?.kind !== 'allowed') return undefined
      this.#take(plugin, verdict)
    }
    return this.#details()
  }

  async #answerAfter(plugin: NamedPlugin, pending: Promise<Verdict>): Promise<AdmissionAnswer> {
    return this.#take(plugin, await pending) ?? this.answer()
  }

  #nextPlugin(): NamedPlugin | undefined {
    const { plugins } = this.#asked
    if (this.#next === plugins.length) {
      if (this.isSecondRound || !this.#isSecondRoundWanted) return undefined
      this.isSecondRound = true
      this.#next = 0
    }
    return plugins[this.#next++]
  }

  /** Undefined for a plugin without an objection. Most answer without a promise. */
  #begin(plugin: NamedPlugin): Verdict | Promise<Verdict> | undefined {
    const { phase, needs } = this.#asked
    const { traceparent } = needs.context
    const span =
      traceparent === undefined ? undefined : needs.tracer?.start(`${phase} ${plugin.name}`, { kind: 'internal', parent: traceparent })
    if (span !== undefined) return this.#beginTraced(plugin, span)
    // A method called through `?.()` keeps its `this`.
    return phase === 'mutate' ? plugin.mutate?.(this.#attributes, this) : plugin.validate?.(this.#attributes, this)
  }

  #beginTraced(plugin: NamedPlugin, span: Span): Verdict | Promise<Verdict> | undefined {
    try {
      const verdict = plugin[this.#asked.phase]?.(this.#attributes, this.#below(span))
      if (verdict instanceof Promise) return ending(verdict, span)
      span.end()
      return verdict
    } catch (error) {
      span.fail(error)
      span.end()
      throw error
    }
  }

  /** The inquiry of a plugin, whose spans are children of the plugin's span. */
  #below({ traceparent }: Span): Inquiry {
    const { reinvocation, explain } = this
    return { reinvocation, explain, context: { ...this.context, traceparent }, decisionOn: (access) => this.decisionOn(access) }
  }

  /** Undefined if validation is asynchronous, or if the object is invalid, which the gateway checks before validation. */
  #verdictAtOnce(plugin: NamedPlugin): Verdict | undefined {
    try {
      const verdict = this.#begin(plugin)
      if (!(verdict instanceof Promise)) return verdict ?? allowed
      verdict.catch(() => undefined)
    } catch {
      // The span has recorded the outcome.
    }
    return undefined
  }

  /** The answer if the verdict is final. */
  #take(plugin: NamedPlugin, verdict: Verdict): AdmissionAnswer | undefined {
    if (verdict !== allowed) this.#keep(verdict)
    if (verdict.kind === 'asks')
      return { ...this.#details(), kind: 'asks', accesses: verdict.accesses, namespaces: [], resumeAt: plugin.name }
    if (verdict.kind === 'needs') {
      return { ...this.#details(), kind: 'asks', accesses: [], namespaces: [verdict.namespace], resumeAt: plugin.name }
    }
    const endedMs = this.#asked.needs.clock.monotonic()
    this.#steps.push(this.#stepOf(plugin, endedMs - this.#startedMs, verdict))
    this.#startedMs = endedMs
    if (verdict.kind === 'denied') return { ...this.#details(), kind: 'denied', status: verdict.error.status }
    if (verdict.object !== undefined) this.#attributes = { ...this.#attributes, object: verdict.object }
    return undefined
  }

  #allowed(): AdmissionAnswer {
    const { attributes } = this.#asked
    const { object } = this.#attributes
    const validated = this.#asked.phase === 'mutate' ? validateAtOnce(this.#asked, this.#attributes) : undefined
    return { ...this.#details(), kind: 'allowed', object: object === attributes.object ? undefined : object, validated }
  }

  #details() {
    return {
      warnings: this.#warnings,
      auditAnnotations: this.#auditAnnotations,
      steps: this.#steps,
      counts: this.#counts,
      conditions: this.#conditions,
      reservations: this.#reservations,
    }
  }

  #keep(verdict: Verdict): void {
    this.#warnings = joined(this.#warnings, verdict.warnings)
    this.#auditAnnotations = joined(this.#auditAnnotations, verdict.auditAnnotations)
    this.#counts = joined(this.#counts, verdict.counts)
    if (verdict.steps !== undefined) this.#steps.push(...verdict.steps)
    if (verdict.kind !== 'allowed') return
    this.#conditions = joined(this.#conditions, verdict.conditions)
    this.#reservations = joined(this.#reservations, verdict.reservations)
  }

  #stepOf(plugin: NamedPlugin, durationMs: number, verdict: Verdict): AdmissionStep {
    const { explain } = this
    const isRejected = verdict.kind === 'denied'
    const reason = explain && isRejected ? verdict.error.status.message : undefined
    const step = { plugin: plugin.name, webhook: '', durationMs, isRejected, round: this.isSecondRound ? 1 : 0, reason }
    return explain ? withPatch(step, this.#attributes, verdict) : step
  }
}

function joined<T>(before: readonly T[], more: readonly T[] | undefined): readonly T[] {
  if (more === undefined || more.length === 0) return before
  return before.length === 0 ? more : [...before, ...more]
}

async function ending<T>(work: Promise<T>, span: Span): Promise<T> {
  try {
    return await work
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

/** Webhooks report their patches themselves. */
function withPatch(step: AdmissionStep, { object }: Attributes, verdict: Verdict): AdmissionStep {
  if (verdict.kind !== 'allowed' || verdict.object === undefined || (verdict.steps ?? []).length > 0) return step
  const patch = differences(object, verdict.object)
  return patch.length === 0 ? step : { ...step, patch }
}
