import type { AdmissionStep, Status } from '@orch/core'
import { limits } from '../limits.ts'
import type { RequestInfo } from '../request-info.ts'

/** One plugin or webhook, as it is told. */
interface ToldStep {
  readonly phase: string
  readonly plugin: string
  readonly webhook?: string
  readonly round?: number
  readonly durationMs: number
  readonly patch?: readonly unknown[]
  readonly reason?: string
  readonly rejected?: true
}

/** How a request came to its answer, collected on its way. */
export class Explanation {
  /** Whether the caller wants to see it, so that patches and reasons are worth collecting. */
  readonly isAsked: boolean
  /** Name of the header field that tells it. */
  readonly header: string
  /** Whether patches may be shown with their values. */
  showsValues = false
  #authentication: { readonly method: string; readonly user: string } | undefined
  #authorization: { readonly decision: string; readonly reason: string } | undefined
  readonly #steps: ToldStep[] = []
  #status: Status | undefined
  #revision: number | undefined

  constructor({ isAsked, header }: { readonly isAsked: boolean; readonly header: string }) {
    this.isAsked = isAsked
    this.header = header
  }

  authenticated(method: string, user: string): void {
    this.#authentication = { method, user }
  }

  authorized(isAllowed: boolean, reason: string): void {
    this.#authorization = { decision: isAllowed ? 'allow' : 'forbid', reason }
  }

  /** What admission did in one phase. Of several attempts of a write the last counts. */
  admitted(phase: string, steps: readonly AdmissionStep[]): void {
    for (const { plugin, webhook, durationMs, round, isRejected, patch, reason } of steps) {
      if (this.#steps.length === limits.explainedStepsMax) this.#steps.shift()
      this.#steps.push({
        phase,
        plugin,
        ...(webhook === '' ? {} : { webhook }),
        ...(round === 0 ? {} : { round }),
        durationMs: Math.round(durationMs * 1000) / 1000,
        ...(patch === undefined ? {} : { patch }),
        ...(reason === undefined || reason === '' ? {} : { reason }),
        ...(isRejected ? { rejected: true as const } : {}),
      })
    }
  }

  refused(status: Status): void {
    this.#status = status
  }

  stored(revision: number): void {
    this.#revision = revision
  }

  /** Everything, patches with their values only where that is allowed. */
  tell(showsValues = this.showsValues) {
    const steps = this.#steps.map(({ patch, ...step }) =>
      patch === undefined ? step : { ...step, patch: showsValues ? patch : patch.map(withoutValue) },
    )
    const { code, reason, message, details } = this.#status ?? {}
    return {
      authentication: this.#authentication,
      authorization: this.#authorization,
      admission: steps,
      ...(this.#status === undefined ? {} : { refusal: { code, reason, message, causes: details?.causes } }),
      ...(this.#revision === undefined ? {} : { storedRevision: String(this.#revision) }),
    }
  }

  /** For a header: one line of ASCII, cut at its end to what clients take. */
  print(): string {
    const told = this.tell()
    const full = printAscii(told)
    if (full.length <= limits.explainHeaderLengthMax) return full
    // Steps that did nothing tell the least, then patches.
    const notable = told.admission.filter((step) => 'patch' in step || 'reason' in step || 'rejected' in step)
    const shorter = printAscii({ ...told, admission: notable, shortened: true })
    if (shorter.length <= limits.explainHeaderLengthMax) return shorter
    const admission = notable.slice(-limits.shortenedStepsMax).map(({ plugin, phase, durationMs, ...step }) => ({
      ...{ phase, plugin, durationMs },
      ...('rejected' in step ? { rejected: true } : {}),
      ...('webhook' in step ? { webhook: String(step.webhook).slice(0, 64) } : {}),
    }))
    const { authentication, authorization } = told
    const reason = authorization?.reason.slice(0, 256)
    return printAscii({ authentication, authorization: { ...authorization, reason }, admission, shortened: true }).slice(
      0,
      limits.explainHeaderLengthMax,
    )
  }
}

function withoutValue(operation: unknown): unknown {
  const { value, ...rest } = operation as { value?: unknown }
  return value === undefined ? rest : { ...rest, value: 'hidden' }
}

function printAscii(value: unknown): string {
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The last explanations, to be asked for by the id of the request. */
export class KeptExplanations {
  readonly #entries = new Map<string, KeptExplanation>()

  keep(auditId: string, kept: KeptExplanation): void {
    this.#entries.delete(auditId)
    this.#entries.set(auditId, kept)
    if (this.#entries.size <= limits.explanationsKeptMax) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  find(auditId: string): KeptExplanation | undefined {
    return this.#entries.get(auditId)
  }
}

/** An explanation, and the request that it is about. */
export interface KeptExplanation {
  readonly explanation: Explanation
  readonly method: string
  readonly path: string
  readonly code: number
  readonly durationMs: number
  readonly info: RequestInfo
}
