import { isJsonObject } from '@orch/core/json'
import { type Clock, seededChance } from '@orch/platform'
import { compileMatch, matchesText, type RequestFacts, type RequestMatch, type TextMatch } from '../request/request-match.ts'
import type { Effect } from './effects.ts'

/** The requests that a fault matches. */
export interface FaultMatch extends RequestMatch {
  /** Headers by lower-case name. */
  readonly header?: Readonly<Record<string, TextMatch>> | undefined
  readonly dryRun?: boolean | undefined
  /** True for matching bodies: the object of a create or an update, a patch, or the options of a delete. */
  readonly body?: ((body: unknown) => boolean) | undefined
  /**
   * Calls of the server instead of requests to it, by the kind and name of the called server: `webhook/deny.example.com`, `kms/one/encrypt`. It excludes
   * all other members.
   */
  readonly outgoing?: TextMatch | undefined
}

/** A fault: the matching requests, their number, and the effect on them. */
export interface Fault {
  /** Shown in answers, in the log and in metrics; `fault-1` and so on by default. */
  readonly name?: string | undefined
  /** By default all requests except those of the server's own parts and of `server.client`, which only a match with `user` includes. */
  readonly on?: FaultMatch | undefined
  /** Number of matching requests that pass first; 0 by default. */
  readonly after?: number | undefined
  /** Maximum number of hits. */
  readonly times?: number | undefined
  /** One of this number of matching requests is hit; 1 by default. */
  readonly every?: number | undefined
  /** Number of matching requests that pass in each second of the server's clock. Default: 0. */
  readonly perSecond?: number | undefined
  /** From 0 to 1, drawn from the seed of the server; 1 by default. */
  readonly probability?: number | undefined
  /** Seed of the draws for `probability`, instead of the server's. */
  readonly seed?: number | string | undefined
  /** Removes the fault when it settles. */
  readonly until?: Promise<unknown> | undefined
  readonly effect: Effect
}

/** A fault that has been added. `using` removes it at the end of its block. */
export interface FaultHandle extends Disposable {
  readonly name: string
  readonly hits: number
  /** Resolves after this number of hits; 1 by default. Rejects when the fault is removed before. */
  hit(times?: number): Promise<void>
  remove(): void
}

/** A request in the form for faults. */
export interface FaultyRequest extends RequestFacts {
  readonly isDryRun: boolean
  header(name: string): string | undefined
}

const members = ['name', 'on', 'after', 'times', 'every', 'perSecond', 'probability', 'seed', 'until', 'effect']

interface FaultRuleParts {
  readonly name: string
  readonly draw: () => number
  readonly clock: Clock
  readonly onHit: (() => void) | undefined
  onEnd(rule: FaultRule): void
}

/** A fault that counts its hits. */
export class FaultRule implements FaultHandle {
  readonly name: string
  readonly effect: Effect
  /** It names the user, so that it also applies to the server's own parts. */
  readonly namesUser: boolean
  /** The fault as it was added. */
  readonly fault: Fault
  readonly #draw: () => number
  readonly #parts: FaultRuleParts
  readonly #matches: (facts: RequestFacts) => boolean
  /** The calls that it matches; undefined if it matches requests. */
  readonly outgoing: TextMatch | undefined
  readonly #removals = new Set<() => void>()
  readonly #waiting: { readonly times: number; resolve(): void; reject(error: Error): void }[] = []
  #seen = 0
  #hits = 0
  /** The current second, and the requests that have passed in it. */
  #second = { from: Number.NEGATIVE_INFINITY, passed: 0 }
  #isRemoved = false

  constructor(fault: Fault, parts: FaultRuleParts) {
    const { name, draw } = parts
    const unknown = Object.keys(fault).find((member) => !members.includes(member))
    if (unknown !== undefined) throw new TypeError(`${unknown} is no member of a fault: expected one of ${members.join(', ')}`)
    if (fault.effect === undefined) throw new TypeError('a fault needs an effect, as in effect: refuse(500)')
    requireName(name)
    requireNumbers(fault)
    this.name = name
    this.effect = fault.effect
    this.namesUser = fault.on?.user !== undefined
    this.fault = fault
    this.#draw = fault.seed === undefined ? draw : seededChance(fault.seed).fraction
    this.#parts = parts
    this.#matches = compileMatch(fault.on ?? {}, ['header', 'dryRun', 'body', 'outgoing'])
    this.outgoing = outgoingOf(fault)
    fault.until?.then(this.remove, this.remove)
  }

  get hits(): number {
    return this.#hits
  }

  get isRemoved(): boolean {
    return this.#isRemoved
  }

  /** Calls a listener at the removal; the returned function removes the listener. */
  onRemoval(listener: () => void): () => void {
    this.#removals.add(listener)
    return () => void this.#removals.delete(listener)
  }

  /** True if the request matches, without its body. */
  matches(request: FaultyRequest): boolean {
    if (!this.#matches(request)) return false
    const { header, dryRun } = this.fault.on ?? {}
    if (dryRun !== undefined && dryRun !== request.isDryRun) return false
    return Object.entries(header ?? {}).every(([name, match]) => matchesText(match, request.header(name.toLowerCase()) ?? ''))
  }

  /** The condition about the body; undefined for none. */
  get body(): ((body: unknown) => boolean) | undefined {
    const { effect } = this
    const { body } = this.fault.on ?? {}
    if (effect.kind !== 'refuse' || effect.code !== 409 || effect.always) return body
    return (value) => carriesVersion(value) && (body?.(value) ?? true)
  }

  /** Counts a completely matching request. Returns true for a hit. */
  take(): boolean {
    const { after = 0, every = 1, times = Number.POSITIVE_INFINITY, probability = 1 } = this.fault
    if (this.#isRemoved || this.#hits >= times) return false
    this.#seen += 1
    if (this.#seen <= after || (this.#seen - after - 1) % every !== 0) return false
    if (this.#passesInSecond()) return false
    if (probability < 1 && this.#draw() >= probability) return false
    this.#hits += 1
    this.#parts.onHit?.()
    for (const waiting of this.#waiting) if (waiting.times <= this.#hits) waiting.resolve()
    if (this.#hits >= times) this.#parts.onEnd(this)
    return true
  }

  #passesInSecond(): boolean {
    const { perSecond = 0 } = this.fault
    if (perSecond === 0) return false
    const now = this.#parts.clock.monotonic()
    if (now - this.#second.from >= 1_000) this.#second = { from: now, passed: 0 }
    this.#second.passed += 1
    return this.#second.passed <= perSecond
  }

  hit(times = 1): Promise<void> {
    if (this.#hits >= times) return Promise.resolve()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // A test may remove the fault without waiting any longer.
    promise.catch(() => {})
    if (this.#isRemoved) reject(this.#removedError(times))
    else this.#waiting.push({ times, resolve, reject })
    return promise
  }

  readonly remove = (): void => {
    if (this.#isRemoved) return
    this.#isRemoved = true
    for (const end of this.#removals) end()
    this.#parts.onEnd(this)
    for (const { times, reject } of this.#waiting) reject(this.#removedError(times))
  };

  [Symbol.dispose](): void {
    this.remove()
  }

  #removedError(times: number): Error {
    return new Error(`the fault ${this.name} was removed after ${this.#hits} of ${times} hits`)
  }
}

function outgoingOf({ on = {} }: Fault): TextMatch | undefined {
  const { outgoing, ...others } = on
  const other = Object.entries(others).find(([, value]) => value !== undefined)?.[0]
  if (outgoing !== undefined && other !== undefined)
    throw new TypeError(`on.${other} of a fault is about requests, and on.outgoing about calls of the server: expected one of the two`)
  return outgoing
}

/** The name is a header of each answer. */
function requireName(name: string): void {
  if (!/^[!-~](?:[ -~]{0,251}[!-~])?$/.test(name))
    throw new RangeError(`name of a fault is ${JSON.stringify(name)}: expected 1 to 253 printable characters of ASCII`)
}

function requireNumbers({ after = 0, times = 1, every = 1, perSecond = 0, probability = 1 }: Fault): void {
  const wrong = (name: string, value: number, expected: string) => new RangeError(`${name} of a fault is ${value}: expected ${expected}`)
  if (!Number.isInteger(after) || after < 0) throw wrong('after', after, 'a whole number from 0')
  if (!Number.isInteger(times) || times < 1) throw wrong('times', times, 'a whole number from 1')
  if (!Number.isInteger(every) || every < 1) throw wrong('every', every, 'a whole number from 1')
  if (!Number.isInteger(perSecond) || perSecond < 0) throw wrong('perSecond', perSecond, 'a whole number from 0')
  if (!(probability >= 0 && probability <= 1)) throw wrong('probability', probability, 'a number from 0 to 1')
}

/** An object, or the preconditions of a delete, with a resourceVersion: its writer expects a possible conflict. */
function carriesVersion(body: unknown): boolean {
  if (!isJsonObject(body)) return false
  const versionIn = (part: unknown) => isJsonObject(part) && Boolean(part['resourceVersion'])
  return versionIn(body['metadata']) || versionIn(body['preconditions'])
}
