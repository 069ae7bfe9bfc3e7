import {
  type AccessDecision,
  type AdmissionAccess,
  type AdmissionAnswer,
  type AdmissionRuleIndex,
  type AdmissionRulesPart,
  type AdmissionService,
  type Attributes,
  type CommitRequest,
  createAdmissionRuleIndex,
  type RulePlace,
  type User,
  type Validated,
} from '@orch/core/contracts'
import { jsonEqual } from '@orch/core/json'
import { internal, StatusError, serviceUnavailable } from '@orch/core/meta'
import { type Clock, type Log, sleep } from '@orch/platform'
import { type Authorizer, decide } from '../authorization/authorizer.ts'
import { limits } from '../limits.ts'
import { type GatewayRequest, originOf } from '../request.ts'
import type { AdmissionMetrics } from './admission-metrics.ts'

type Conditions = CommitRequest['conditions']
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
type Phase = 'mutate' | 'validate'

/** A request that admission may be asked about, once for each phase. */
export interface Admitting {
  readonly request: GatewayRequest
  readonly attributes: Attributes
}

/** What admission wants of the write. */
export interface Admitted {
  /** Absent: unchanged, and not even asked about. It belongs to admission and is never changed in place. */
  readonly object: unknown
  /** What must still hold when the object is committed. */
  readonly conditions: Conditions
  /** What was reserved for it: the outcome must be reported. */
  readonly reservations: readonly string[]
  /** Of mutating: that validating allows it as well, as far as admission knew at once. */
  readonly ahead?: Ahead | undefined
}

/** What validating would have answered, if it had been asked when mutating was. */
interface Ahead extends Admitting {
  readonly answer: Validated
  /** The admission rules of that moment: with others, others may have a say. */
  readonly admissionRules: object
}

/** Asks admission about a request, where admission has something to say. It refuses by throwing. */
export interface Admitter {
  /** undefined: admission has nothing to say. */
  mutate(admitting: Admitting): Promise<Admitted | undefined>
  /** The same. `mutation` may have the verdict of validating; where that holds, it is not asked again. */
  validate(admitting: Admitting, mutation?: Admitted): Promise<Admitted | undefined>
  /** Reports how a write ended for which something was reserved. A promise: its object changes admission rules, which it waits for. */
  settle(ended: EndedWrite): Promise<void> | undefined
  close(): void
}

/** A write that is over. */
interface EndedWrite {
  readonly writeId: string
  readonly reservations: readonly string[]
  /** What was written, by its storage prefix. */
  readonly resource: string
  /** undefined: it was not committed. */
  readonly revision: number | undefined
}

export interface AdmitterOptions {
  readonly admission: AdmissionService | undefined
  readonly authorizers: readonly Authorizer[]
  /** Makes a namespace in the server's own name; one that is there is left as it is. */
  readonly provideNamespace: (name: string) => Promise<void>
  readonly metrics: AdmissionMetrics
  readonly clock: Clock
  readonly log: Log
}

/** Without an admission service nothing is refused. */
export function createAdmitter(options: AdmitterOptions): Admitter {
  const { admission, metrics, clock, log } = options
  if (admission === undefined) {
    return {
      mutate: async () => undefined,
      validate: async () => undefined,
      settle: () => undefined,
      close: () => {},
    }
  }
  const admissionRules = new AdmissionRules(admission, clock, log)
  const ask = (phase: Phase, admitting: Admitting): Promise<Admitted | undefined> =>
    admissionRules.match(phase, admitting.attributes)
      ? askAll({ phase, admitting, admission, admissionRules: admissionRules.trusted }, options)
      : Promise.resolve(undefined)
  return {
    mutate: (admitting) => ask('mutate', admitting),
    async validate(admitting, mutation) {
      const ahead = mutation?.ahead
      if (ahead === undefined || ahead.admissionRules !== admissionRules.trusted) return ask('validate', admitting)
      const { answer, attributes } = ahead
      tell(answer, ahead, 'validate', metrics)
      metrics.step('validate', attributes.operation, false, durationOf(answer))
      return { object: undefined, conditions: answer.conditions, reservations: [] }
    },
    settle({ writeId, reservations, resource, revision }) {
      if (reservations.length > 0) {
        const outcome = { writeId, reservations, isCommitted: revision !== undefined, revision: revision ?? 0 }
        // Admission also finds out by itself, only later.
        admission.outcome(outcome).catch((error) => log.warn({ err: error }, 'the outcome of a write could not be reported to admission'))
      }
      return revision !== undefined && admissionRules.areMadeFrom(resource) ? admissionRules.reached(resource, revision) : undefined
    },
    close: () => admissionRules.close(),
  }
}

interface Asked {
  readonly phase: Phase
  readonly admitting: Admitting
  readonly admission: AdmissionService
  /** Those by which it is asked; undefined: they are not known. */
  readonly admissionRules: object | undefined
}

/** Calls again as long as admission asks what the user may do. */
async function askAll({ phase, admitting, admission, admissionRules }: Asked, options: AdmitterOptions): Promise<Admitted> {
  const { request, attributes } = admitting
  const { clock, metrics } = options
  const startedMs = clock.monotonic()
  const conditions: Conditions[number][] = []
  const reservations: string[] = []
  let decisions: readonly AccessDecision[] = []
  let resumeAt = ''
  for (let calls = 0; calls < limits.admissionCallsMax; calls++) {
    const question = { phase, attributes, decisions, resumeAt, explain: request.explanation?.isShown === true }
    const timeoutMs = Math.max(1, request.deadlineMs - (calls === 0 ? startedMs : clock.monotonic()))
    let answer: AdmissionAnswer
    try {
      answer = await admission.admit(question, { ...originOf(request), timeoutMs })
    } catch (error) {
      throw unanswered(error)
    }
    tell(answer, admitting, phase, metrics)
    reservations.push(...answer.reservations)
    switch (answer.kind) {
      case 'allowed':
        metrics.step(phase, attributes.operation, false, Math.max(0, clock.monotonic() - startedMs - durationOf(answer.validated)))
        conditions.push(...answer.conditions)
        return { object: answer.object, conditions, reservations, ahead: aheadOf(answer.validated, admitting, admissionRules) }
      case 'denied':
        metrics.step(phase, attributes.operation, true, clock.monotonic() - startedMs)
        if (reservations.length > 0) {
          const outcome = { writeId: attributes.writeId, reservations, isCommitted: false, revision: 0 }
          await admission
            .outcome(outcome)
            .catch((error) => options.log.warn({ err: error }, 'a refusal could not be reported to admission'))
        }
        throw new StatusError(answer.status)
      case 'asks':
        conditions.push(...answer.conditions)
        resumeAt = answer.resumeAt
        for (const namespace of answer.namespaces) await options.provideNamespace(namespace)
        decisions = [...decisions, ...(await decideAll(answer.accesses, request.user, options.authorizers))]
    }
  }
  throw internal(`the admission plugin ${resumeAt} asks again and again what the user may do`)
}

/** Time that validating took within the answer to mutating. */
function durationOf(answer: Validated | undefined): number {
  return answer === undefined ? 0 : answer.steps.reduce((sum, { durationMs }) => sum + durationMs, 0)
}

/** Admission rules that are not believed cannot be seen to change. */
function aheadOf(answer: Validated | undefined, { request, attributes }: Admitting, admissionRules: object | undefined): Ahead | undefined {
  return answer === undefined || admissionRules === undefined ? undefined : { answer, request, attributes, admissionRules }
}

/** A failure without a Status means that admission was not reached. */
function unanswered(error: unknown): StatusError {
  return error instanceof StatusError ? error : serviceUnavailable('admission cannot be reached', { cause: error })
}

/** Passes on what admission says besides its decision. */
function tell(answer: Omit<Validated, 'conditions'>, { request, attributes }: Admitting, phase: Phase, metrics: AdmissionMetrics): void {
  for (const warning of answer.warnings) request.warn(warning)
  for (const { key, value, level } of answer.auditAnnotations) {
    if (level === 'Request') request.annotateBody(key, value)
    else request.annotate(key, value)
  }
  request.explanation?.admitted(phase, attributes.writeId, answer.steps)
  metrics.plugins(phase, attributes.operation, answer.steps)
  for (const count of answer.counts) metrics.count(count)
}

function decideAll(accesses: readonly AdmissionAccess[], user: User, authorizers: readonly Authorizer[]): Promise<AccessDecision[]> {
  return Promise.all(
    accesses.map(async (access) => {
      const { path, verb, account } = access
      const asked = path === undefined ? ({ kind: 'resource', ...access } as const) : ({ kind: 'path', verb, path } as const)
      const { kind, reason } = await decide(authorizers, account === undefined ? user : userOfAccount(account), asked)
      return { access, isAllowed: kind === 'allow', reason }
    }),
  )
}

/** A service account of `namespace:name` as a user, without a token. */
function userOfAccount(account: string): User {
  const [namespace = ''] = account.split(':')
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return { name: `system:serviceaccount:${account}`, uid: '', groups, extra: {} }
}

const anybody = {}

/** Pause before the admission rules are requested again. */
const retryDelayMs = 1_000

interface Waiting {
  readonly resource: string
  readonly revision: number
  resolve(): void
}

/** What admission wants to be asked about. A set that is too old is not believed: then everything is asked. */
class AdmissionRules {
  readonly #clock: Clock
  readonly #closed = new AbortController()
  readonly #waiting = new Set<Waiting>()
  #index: AdmissionRuleIndex<unknown> | undefined
  #made: AdmissionRulesPart['admissionRules'] | undefined
  #sources: ReadonlyMap<string, number> = new Map()
  #receivedMs = 0

  constructor(admission: AdmissionService, clock: Clock, log: Log) {
    this.#clock = clock
    void this.#follow(admission, log)
  }

  /** The set as long as it is believed; another object when it is another set. */
  get trusted(): AdmissionRuleIndex<unknown> | undefined {
    return this.#clock.monotonic() - this.#receivedMs > limits.admissionRulesAgeMsMax ? undefined : this.#index
  }

  match(phase: string, place: RulePlace): boolean {
    const { trusted } = this
    return trusted === undefined || trusted.find(phase, place).length > 0
  }

  /** Admission rules are made from this resource, by its storage prefix. */
  areMadeFrom(resource: string): boolean {
    return this.#sources.has(resource)
  }

  /** Resolves when the set includes the resource's changes up to the revision, or it has taken too long. */
  async reached(resource: string, revision: number): Promise<void> {
    if ((this.#sources.get(resource) ?? revision) >= revision || this.#closed.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = { resource, revision, resolve }
    this.#waiting.add(waiting)
    const timer = this.#clock.after(limits.admissionRulesWaitMsMax, resolve)
    await promise
    timer.cancel()
    this.#waiting.delete(waiting)
  }

  close(): void {
    this.#closed.abort()
    for (const { resolve } of this.#waiting) resolve()
  }

  async #follow(admission: AdmissionService, log: Log): Promise<void> {
    const { signal } = this.#closed
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        for await (const part of admission.admissionRules({}, { signal })) {
          attempt = 0
          this.#take(part)
          if (signal.aborted) return
        }
      } catch (error) {
        if (!signal.aborted) log[attempt > 1 ? 'warn' : 'debug']({ err: error, attempt }, 'the admission rules were lost')
      }
      await sleep(this.#clock, retryDelayMs, signal)
    }
  }

  #take({ admissionRules, sources }: AdmissionRulesPart): void {
    this.#receivedMs = this.#clock.monotonic()
    // The same set is received again and again: as long as it says the same, what was decided by it stays decided.
    if (this.#index === undefined || !jsonEqual(admissionRules, this.#made)) {
      this.#index = createAdmissionRuleIndex(admissionRules.map((admissionRule) => ({ admissionRule, value: anybody })))
      this.#made = admissionRules
    }
    this.#sources = new Map(sources.map(({ resource, revision }) => [resource, revision]))
    for (const { resource, revision, resolve } of this.#waiting) {
      if ((this.#sources.get(resource) ?? revision) >= revision) resolve()
    }
  }
}
