import type { AdmissionStep, ExplainedStep } from '@orch/core/contracts'
import { hasMembers, printJson } from '@orch/core/json'
import type { Status } from '@orch/core/meta'
import { limits } from '../limits.ts'
import type { RequestInfo } from './request-info.ts'

/** The record of one admission phase. */
interface Phase {
  readonly phase: string
  readonly steps: readonly AdmissionStep[]
}

/** A phase of one attempt of a write. */
interface Admitted extends Phase {
  readonly writeId: string
}

/** The permissions of the reader of an explanation. */
export interface Reader {
  /** May read the object: values of patches, and reasons that the response omits. */
  readonly knowsObject: boolean
  /** Received the response, as the user of the request. */
  readonly knowsAnswer: boolean
}

/** Records the decisions about a request. Nothing is computed before the explanation is read. */
export class Explanation {
  /** True if the caller requested it and may see it, so that patches and reasons are recorded. */
  isShown = false
  /** True if the caller may see values of patches. */
  showsValues = false
  /** Name of the response header. */
  readonly header: string
  #authentication: { readonly method: string; readonly user: string; readonly impersonatedBy?: string } | undefined
  #authorization: { readonly decision: string; readonly reason: string } | undefined
  #admitted: Admitted[] = []
  /** Replaces `#admitted` while the explanation is kept. */
  #packed: PackedSteps | undefined
  #status: Status | undefined
  #revision: number | undefined

  constructor(header: string) {
    this.header = header
  }

  /** The user of the request; '' while unknown. */
  get user(): string {
    return this.#authentication?.user ?? ''
  }

  authenticated(method: string, user: string): void {
    this.#authentication = { method, user }
  }

  /** Sets the user whose permissions apply: another one when the caller impersonates. */
  actsAs(user: string): void {
    if (this.#authentication === undefined || this.#authentication.user === user) return
    const { method, user: impersonatedBy } = this.#authentication
    this.#authentication = { method, user, impersonatedBy }
  }

  authorized(isAllowed: boolean, reason: string): void {
    this.#authorization = { decision: isAllowed ? 'allow' : 'forbid', reason }
  }

  /** Adds a phase of admission. A further attempt of the same write replaces the previous one. */
  admitted(phase: string, writeId: string, steps: readonly AdmissionStep[]): void {
    const last = this.#admitted.at(-1)
    const isAgain =
      last?.writeId === writeId && phase === 'mutate' && (last.phase === 'validate' || last.steps.some(({ isRejected }) => isRejected))
    if (isAgain) this.#admitted = this.#admitted.filter((one) => one.writeId !== writeId)
    if (this.#admitted.length === limits.explainedPhasesMax) this.#admitted.shift()
    this.#admitted.push({ phase, writeId, steps })
  }

  refused(status: Status): void {
    this.#status = status
  }

  stored(revision: number): void {
    this.#revision = revision
  }

  /** Releases memory before it is stored, since objects may be large. The steps are in `room` until `leave`. */
  shorten(room: PackedSteps): void {
    if (this.#status !== undefined) this.#status = shortenedStatus(this.#status)
    if (this.isShown) this.#admitted = this.#admitted.map((admitted) => ({ ...admitted, steps: admitted.steps.map(shortenedStep) }))
    else {
      pack(this.#admitted, room)
      this.#packed = room
      this.#admitted = []
    }
  }

  /** Drops the steps, since the slot is reused for another request. */
  vacate(): void {
    this.#packed = undefined
  }

  /** Copies the steps out of the slot, which may be reused for another request. */
  leave(): void {
    if (this.#packed === undefined) return
    // No more phases follow, so the id of the write is not needed.
    this.#admitted = unpacked(this.#packed).map((phase) => ({ ...phase, writeId: '' }))
    this.#packed = undefined
  }

  /** The explanation for a reader, by permission. */
  show({ knowsObject, knowsAnswer }: Reader) {
    this.leave()
    const steps = this.#admitted.flatMap(({ phase, steps }) => steps.map((step) => shownStep(phase, step)))
    const admission = steps.slice(-limits.explainedStepsMax).map(({ patch, reason, ...step }) => ({
      ...step,
      ...(patch === undefined ? {} : { patch: knowsObject ? patch : patch.map(withoutValue) }),
      ...(reason === undefined ? {} : { reason: knowsObject || (knowsAnswer && step.rejected) ? reason : hidden }),
    }))
    return {
      authentication: this.#authentication,
      authorization: this.#authorization,
      admission,
      ...(this.#status === undefined ? {} : { refusal: shownRefusal(this.#status, knowsObject || knowsAnswer) }),
      ...(this.#revision === undefined ? {} : { storedRevision: String(this.#revision) }),
    }
  }

  /** Prints the header value: one line of ASCII, shortened to a length that clients accept. */
  print(): string {
    const shown = this.show({ knowsObject: this.showsValues, knowsAnswer: true })
    const full = printAscii(shown)
    if (full.length <= limits.explainHeaderLengthMax) return full
    // Omits steps without effect first, then patches.
    const notable = shown.admission.filter((step) => 'patch' in step || 'reason' in step || 'rejected' in step)
    const shorter = printAscii({ ...shown, admission: notable, shortened: true })
    if (shorter.length <= limits.explainHeaderLengthMax) return shorter
    const admission = notable.slice(-limits.shortenedStepsMax).map(({ plugin, phase, durationMs, ...step }) => ({
      ...{ phase, plugin, durationMs },
      ...('rejected' in step ? { rejected: true } : {}),
      ...('webhook' in step ? { webhook: String(step.webhook).slice(0, limits.shortenedTextMax) } : {}),
    }))
    const { authentication, authorization } = shown
    return printAscii({ authentication: shortened(authentication), authorization: shortened(authorization), admission, shortened: true })
  }
}

/**
 * The phases of a request without an explanation, as one list of texts and small integers: how much of the list is in use; of
 * each phase its name and the number of its steps; of each step its plugin, its webhook, its round, 1 if it refused, and its
 * microseconds. Most requests are of this kind. The list is reused for later requests, which saves garbage collection.
 */
type PackedSteps = (string | number)[]

/** Room for some hundred steps. A longer list is dropped when its slot is reused. */
const roomLengthMax = 1000
const phaseLength = 2
const stepLength = 5

function pack(phases: readonly Phase[], list: PackedSteps): void {
  let end = 1
  list[0] = end
  for (const { phase, steps } of phases) {
    list[end] = phase
    list[end + 1] = steps.length
    end += phaseLength
    for (const { plugin, webhook, round, isRejected, durationMs } of steps) {
      list[end] = plugin
      list[end + 1] = webhook
      list[end + 2] = round
      list[end + 3] = Number(isRejected)
      list[end + 4] = Math.round(durationMs * 1000)
      end += stepLength
    }
  }
  list[0] = end
}

function unpacked(list: PackedSteps): Phase[] {
  const phases: Phase[] = []
  const end = Number(list[0])
  for (let at = 1; at < end; ) {
    const phase = String(list[at])
    const count = Number(list[at + 1])
    at += phaseLength
    const steps = Array.from({ length: count }, (_, index) => unpackedStep(list, at + index * stepLength))
    at += count * stepLength
    phases.push({ phase, steps })
  }
  return phases
}

function unpackedStep(list: PackedSteps, at: number): AdmissionStep {
  const [plugin, webhook, round, rejected, micros] = list.slice(at, at + stepLength)
  return {
    plugin: String(plugin),
    webhook: String(webhook),
    round: Number(round),
    isRejected: rejected === 1,
    durationMs: Number(micros) / 1000,
  }
}

const hidden = 'hidden'

/** The lowest code of a refusal. */
const refusedFrom = 400

function shownStep(phase: string, { plugin, webhook, durationMs, round, isRejected, patch, reason }: AdmissionStep): ExplainedStep {
  return {
    phase,
    plugin,
    ...(webhook === '' ? {} : { webhook }),
    ...(round === 0 ? {} : { round }),
    durationMs: Math.round(durationMs * 1000) / 1000,
    ...(patch === undefined ? {} : { patch }),
    ...(reason === undefined || reason === '' ? {} : { reason }),
    ...(isRejected ? { rejected: true as const } : {}),
  }
}

/** The refusal, without message and causes for readers that may not see them, since these may quote the object. */
function shownRefusal({ code, reason, message, details }: Status, isKnown: boolean) {
  return isKnown ? { code, reason, message, causes: details?.causes } : { code, reason, message: hidden }
}

/** Names of keys are as secret as their values: only the path of the object part is shown. */
function withoutValue(operation: unknown): unknown {
  const { op, path, value }: Readonly<Record<string, unknown>> = hasMembers(operation) ? operation : {}
  return { op, path: String(path).split('/', 2).join('/'), ...(value === undefined ? {} : { value: hidden }) }
}

function shortenedStatus(status: Status): Status {
  const { message = '', details } = status
  const causes = details?.causes?.slice(0, limits.keptCausesMax).map((cause) => ({ ...cause, message: shortenedText(cause.message ?? '') }))
  return { ...status, message: shortenedText(message), ...(causes === undefined ? {} : { details: { causes } }) }
}

function shortenedStep({ patch, reason, ...step }: AdmissionStep): AdmissionStep {
  const isLong = patch !== undefined && printAscii(patch).length > limits.keptPatchLengthMax
  return { ...step, patch: isLong ? undefined : patch, reason: reason === undefined ? undefined : shortenedText(reason) }
}

function shortenedText(text: string): string {
  // A substring holds the whole string in memory; a copy does not.
  return text.length <= limits.keptTextMax ? text : Buffer.from(text.slice(0, limits.keptTextMax)).toString()
}

function shortened(texts: Readonly<Record<string, string>> | undefined): unknown {
  if (texts === undefined) return undefined
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.slice(0, limits.shortenedTextMax)]))
}

function printAscii(value: unknown): string {
  return printJson(value).replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The last explanations by audit ID. Refusals are retained longer: a client that repeats a write displaces all others within seconds. */
export class KeptExplanations {
  readonly #ring: KeptExplanation[] = []
  /** The packed steps of each slot of the ring. */
  readonly #rooms: PackedSteps[] = []
  /** Refusals that the ring has displaced, oldest first. */
  readonly #refusals: KeptExplanation[] = []
  #next = 0

  keep(kept: KeptExplanation): void {
    const displaced = this.#ring[this.#next]
    if (displaced !== undefined) this.#displace(displaced)
    this.#rooms[this.#next] ??= [0]
    const room = this.#rooms[this.#next] ?? []
    if (room.length > roomLengthMax) room.length = 0
    kept.explanation.shorten(room)
    this.#ring[this.#next] = kept
    this.#next = (this.#next + 1) % limits.explanationsKeptMax
  }

  #displace(displaced: KeptExplanation): void {
    if (displaced.code < refusedFrom) {
      displaced.explanation.vacate()
      return
    }
    displaced.explanation.leave()
    this.#refusals.push(displaced)
    if (this.#refusals.length > limits.explanationsKeptMax) this.#refusals.shift()
  }

  /** The newest with this audit ID, since a client may use an ID again. */
  find(auditId: string): KeptExplanation | undefined {
    const isAsked = (kept: KeptExplanation) => kept.auditId === auditId
    const newer = this.#ring.slice(0, this.#next).findLast(isAsked) ?? this.#ring.slice(this.#next).findLast(isAsked)
    const found = newer ?? this.#refusals.findLast(isAsked)
    // The slot may be reused before the explanation is read.
    found?.explanation.leave()
    return found
  }
}

/** An explanation with its request. */
export interface KeptExplanation {
  readonly auditId: string
  readonly explanation: Explanation
  readonly method: string
  readonly path: string
  readonly code: number
  readonly durationMs: number
  readonly info: RequestInfo
}
