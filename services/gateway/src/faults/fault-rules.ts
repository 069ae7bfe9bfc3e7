import { readOurJson } from '@orch/core/events'
import { isJsonObject } from '@orch/core/json'
import { domainGroup, faultsGroup } from '@orch/core/names'
import { ended, messageOf, Reflector, type ReflectorChange, retryDelayMs, sleep } from '@orch/platform'
import type { InProcessRequest, InProcessResponse } from '../exchange/in-process.ts'
import type { Surroundings } from '../surroundings.ts'
import type { FaultHandle } from './fault.ts'
import { faultDefinition, faultRulesPlural, faultRulesVersion } from './fault-definition.ts'
import { readFault } from './fault-spec.ts'
import type { Faults } from './faults.ts'

/** The dependencies of faults stored as objects. */
export interface FaultRulesOptions extends Pick<Surroundings, 'storage' | 'names' | 'clock' | 'log' | 'random' | 'pathPrefix'> {
  readonly faults: Faults
  /** Sends a request of the server itself. */
  send(request: InProcessRequest): Promise<InProcessResponse>
}

/** The part of a stored FaultRule that a gateway needs. */
type StoredRule = ReturnType<typeof ruleOf>

/** An active rule, or an invalid one. */
interface KnownRule extends StoredRule {
  readonly handle: FaultHandle | undefined
  readonly found: string
  /** Hits that the status does not include yet; undefined if the status was never written. */
  unreported: number
  isReporting: boolean
}

const retryMsMax = 5_000

/**
 * Faults stored as objects: each gateway watches them, activates them, and adds its hits to their status.
 *
 *   FaultRule lost, status.hits 3;  gateway A hits twice, B once  →  A: 3 + 2, B: 5 + 1, each on condition of the version that it read
 */
export class FaultRules {
  readonly #options: FaultRulesOptions
  readonly #closed = new AbortController()
  readonly #rules = new Map<string, KnownRule>()

  constructor(options: FaultRulesOptions) {
    this.#options = options
  }

  /** Creates the kind, and watches its objects. Resolves when the stored ones are active. */
  async begin(): Promise<void> {
    const { storage, clock, log, random } = this.#options
    const { signal } = this.#closed
    const decode = (value: Uint8Array) => ruleOf(readOurJson(value))
    const resource = `${faultsGroup}/${faultRulesPlural}`
    const reflector = new Reflector({ storage, clock, log, random, resource, decode, signal })
    reflector.onChange((change) => this.#apply(change))
    await Promise.all([this.#define(), reflector.ready.catch(() => {})])
  }

  close(): void {
    this.#closed.abort(ended)
    for (const { handle } of this.#rules.values()) handle?.remove()
    this.#rules.clear()
  }

  async #define(): Promise<void> {
    const { names, clock, log, random, pathPrefix } = this.#options
    const definition = faultDefinition(names)
    const group = domainGroup(names, 'apiextensions')
    const name = `${faultRulesPlural}.${faultsGroup}`
    const path = `${pathPrefix}/apis/${group}/v1/customresourcedefinitions/${name}?fieldManager=${names.serverManager}&force=true`
    const body = JSON.stringify(definition)
    for (let attempt = 1; !this.#closed.signal.aborted; attempt += 1) {
      try {
        const { status } = await this.#send({ method: 'PATCH', path, headers: { 'content-type': 'application/apply-patch+yaml' }, body })
        if (status < 300) return
        log.debug({ status }, 'the definition of FaultRule cannot be made yet')
      } catch (err) {
        log.debug({ err }, 'the definition of FaultRule cannot be made yet')
      }
      await sleep(clock, retryDelayMs({ attempt, maxMs: retryMsMax, random: random() }), this.#closed.signal)
    }
  }

  #apply({ before, after }: ReflectorChange<StoredRule>): void {
    const name = (after ?? before)?.name ?? ''
    const known = this.#rules.get(name)
    if (after !== undefined && known?.uid === after.uid && known.generation === after.generation) {
      // Another gateway has written its status.
      return
    }
    known?.handle?.remove()
    this.#rules.delete(name)
    if (after === undefined || this.#closed.signal.aborted) return
    const rule = this.#enforce(after)
    this.#rules.set(name, rule)
    this.#report(rule)
  }

  #enforce(stored: StoredRule): KnownRule {
    const { faults } = this.#options
    const common = { ...stored, unreported: 0, isReporting: false }
    try {
      const fault = { ...readFault(stored.spec, 'spec', 'match'), name: stored.name }
      const handle = faults.add(fault, () => {
        rule.unreported += 1
        this.#report(rule)
      })
      const rule: KnownRule = { ...common, handle, found: '' }
      return rule
    } catch (error) {
      return { ...common, handle: undefined, found: messageOf(error) }
    }
  }

  /** Adds the hits of this gateway to the status, one write at a time, so that simultaneous hits are written together. */
  #report(rule: KnownRule): void {
    if (rule.isReporting) return
    rule.isReporting = true
    void this.#write(rule).catch((err: unknown) => this.#options.log.warn({ err, rule: rule.name }, 'hits of a fault could not be counted'))
  }

  async #write(rule: KnownRule): Promise<void> {
    const { clock, random } = this.#options
    try {
      let isFirst = true
      for (let attempt = 1; (isFirst || rule.unreported > 0) && this.#rules.get(rule.name) === rule; ) {
        const hits = rule.unreported
        const outcome = await this.#tryWrite(rule, hits, isFirst)
        if (outcome === 'gone') return
        if (outcome === 'written') {
          rule.unreported -= hits
          isFirst = false
          attempt = 1
        } else {
          await sleep(clock, attempt === 1 ? 0 : retryDelayMs({ attempt, maxMs: retryMsMax, random: random() }), this.#closed.signal)
          attempt += 1
        }
      }
    } finally {
      rule.isReporting = false
    }
  }

  async #tryWrite({ name, uid, generation, found }: KnownRule, hits: number, isFirst: boolean): Promise<'written' | 'lost' | 'gone'> {
    const path = `${this.#options.pathPrefix}/apis/${faultsGroup}/${faultRulesVersion}/${faultRulesPlural}/${name}`
    const read = await this.#send({ method: 'GET', path, headers: {} })
    if (read.status === 404) return 'gone'
    const object: unknown = read.status === 200 ? JSON.parse(await textOf(read)) : undefined
    if (!isJsonObject(object)) return 'lost'
    const stored = ruleOf(object)
    if (stored.uid !== uid || stored.generation !== generation) return 'gone'
    const status = isJsonObject(object['status']) ? object['status'] : {}
    const counted = typeof status['hits'] === 'number' ? status['hits'] : undefined
    if (isFirst && hits === 0 && counted !== undefined && stored.problem === found) return 'written'
    const metadata = isJsonObject(object['metadata']) ? { resourceVersion: object['metadata']['resourceVersion'] } : {}
    const body = JSON.stringify({
      metadata,
      status: { hits: (counted ?? 0) + hits, problem: found === '' ? null : found.slice(0, problemMax) },
    })
    const headers = { 'content-type': 'application/merge-patch+json', 'user-agent': this.#options.names.serverManager }
    const written = await this.#send({ method: 'PATCH', path: `${path}/status`, headers, body })
    return written.status === 200 ? 'written' : 'lost'
  }

  async #send(request: InProcessRequest): Promise<InProcessResponse> {
    return this.#options.send({ ...request, signal: this.#closed.signal })
  }
}

/** Maximum characters of a problem in a status. */
const problemMax = 1_000

async function textOf({ body }: InProcessResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function ruleOf(object: unknown) {
  const { metadata, spec, status } = { metadata: undefined, spec: undefined, status: undefined, ...Object(object) }
  const { name, uid, generation } = { name: '', uid: '', generation: 0, ...Object(metadata) }
  const { problem } = { problem: '', ...Object(status) }
  return { name: String(name), uid: String(uid), generation: Number(generation), spec, problem: String(problem) }
}
