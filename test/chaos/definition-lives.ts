import type { Client, JsonRequest } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'
import { createRandom, pick } from './random.ts'

interface LifeCounts {
  definitions: number
  changes: number
  removals: number
  objects: number
  checks: number
  /** The number of requests with an unknown outcome. */
  unknown: number
}

export interface LivesOptions {
  readonly clients: readonly Client[]
  readonly seed: number
  /** The number of concurrent definitions, each with a client. */
  readonly workers: number
  /** The keys of etcd below a prefix. */
  readonly keysBelow: (prefix: string) => Promise<readonly string[]>
}

type Answer =
  | { readonly kind: 'done'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly code: number }
  | { readonly kind: 'unknown' }

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
/** The longest wait of a client for an answer. After it, the outcome is unknown. */
const answerMsMax = 15_000
const pauseMs = 20
/** The number of checks for a deleted definition, with pauses: a busy machine makes as many checks as an idle machine. */
const looksMax = 3_000

/** Creates, changes and deletes definitions with objects repeatedly until the run stops them. */
export function startLives({ clients, seed, workers, keysBelow }: LivesOptions) {
  const faults: string[] = []
  const counts: LifeCounts = { definitions: 0, changes: 0, removals: 0, objects: 0, checks: 0, unknown: 0 }
  const state = { isOver: false }
  const lives = Array.from({ length: workers }, (_, worker) => {
    // Two definitions of a group share the group's row of names.
    const place = { group: `chaos${worker >> 1}.example.com`, plural: `kinds${worker}` }
    return new Life({ clients, random: createRandom(seed + worker), place, faults, counts, state, keysBelow }).run()
  })
  return {
    /** Violations; empty if there are none. */
    faults,
    counts,
    async stop() {
      state.isOver = true
      await Promise.all(lives)
    },
  }
}

interface LifeOptions {
  readonly clients: readonly Client[]
  readonly random: () => number
  readonly place: { readonly group: string; readonly plural: string }
  readonly faults: string[]
  readonly counts: LifeCounts
  readonly state: { readonly isOver: boolean }
  readonly keysBelow: (prefix: string) => Promise<readonly string[]>
}

class Life {
  readonly #options: LifeOptions
  readonly #path: string
  #versions: readonly string[] = ['v1']
  /** The acknowledged objects, and the objects that may exist. */
  #created = new Set<string>()
  #possible = new Set<string>()
  #count = 0

  constructor(options: LifeOptions) {
    this.#options = options
    this.#path = `${definitions}/${options.place.plural}.${options.place.group}`
  }

  async run(): Promise<void> {
    const { random, state } = this.#options
    while (!state.isOver) {
      this.#versions = ['v1']
      this.#created = new Set()
      this.#possible = new Set()
      if (!(await this.#define())) continue
      const rounds = 3 + Math.floor(random() * 12)
      for (let round = 0; round < rounds && !state.isOver; round += 1) {
        await this.#see()
        const dice = random()
        if (dice < 0.6) await this.#create()
        else if (dice < 0.75) await this.#change()
        else if (dice < 0.85) await this.#removeOne()
        await sleep(systemClock, pauseMs)
      }
      await this.#compare()
      await this.#remove()
    }
  }

  /** True if the definition exists. */
  async #define(): Promise<boolean> {
    const answer = await this.#send({ method: 'POST', path: definitions, body: this.#definition() })
    if (answer.kind === 'done') {
      const { status } = answer.body as { status: { conditions: readonly { type: string; status: string }[] } }
      if (!status.conditions.some((one) => one.type === 'Established' && one.status === 'True')) this.#fault(`created and not established`)
      this.#options.counts.definitions += 1
      return true
    }
    if (answer.kind === 'refused' && answer.code !== 409) {
      await sleep(systemClock, pauseMs)
      return false
    }
    const found = await this.#surely<{ metadata: { deletionTimestamp?: string } } | undefined>({ method: 'GET', path: this.#path })
    return found !== undefined && found.metadata.deletionTimestamp === undefined
  }

  #definition(): object {
    const { group, plural } = this.#options.place
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } } } },
    }
    const versions = this.#versions.map((name, index) => ({ name, served: true, storage: index === 0, schema }))
    return {
      apiVersion: 'apiextensions.orch.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Cluster', names: { plural, kind: `Kind${plural.slice(5)}`, shortNames: [`s${plural.slice(5)}`] }, versions },
    }
  }

  /** No gateway answers 404 for an acknowledged object. */
  async #see(): Promise<void> {
    const { clients, counts } = this.#options
    const seen = await Promise.all(
      clients.flatMap((client) => this.#versions.map((version) => this.#send({ method: 'GET', path: this.#collection(version) }, client))),
    )
    for (const answer of seen) {
      counts.checks += 1
      if (answer.kind === 'refused' && answer.code === 404) this.#fault(`404 after the acknowledgement, versions ${this.#versions.join()}`)
    }
  }

  async #create(): Promise<Answer> {
    this.#count += 1
    const name = `o${this.#count}`
    this.#possible.add(name)
    const answer = await this.#send({ method: 'POST', path: this.#collection(), body: this.#object(name) })
    if (answer.kind === 'refused') this.#possible.delete(name)
    if (answer.kind === 'refused' && answer.code === 404) this.#fault(`404 for a create after the acknowledgement`)
    if (answer.kind === 'done') {
      this.#created.add(name)
      this.#options.counts.objects += 1
    }
    return answer
  }

  #object(name: string): object {
    const { group, plural } = this.#options.place
    return { apiVersion: `${group}/v1`, kind: `Kind${plural.slice(5)}`, metadata: { name }, spec: {} }
  }

  async #removeOne(): Promise<void> {
    const [name] = this.#created
    if (name === undefined) return
    this.#created.delete(name)
    await this.#send({ method: 'DELETE', path: `${this.#collection()}/${name}` })
  }

  async #change(): Promise<void> {
    const { random, place } = this.#options
    const versions = this.#versions.length === 1 ? ['v1', 'v2'] : ['v1']
    const before = this.#versions
    this.#versions = versions
    const { spec } = this.#definition() as { spec: { names: object; versions: object } }
    const names = { ...spec.names, shortNames: [`s${place.plural.slice(5)}`, `t${Math.floor(random() * 10)}${place.plural.slice(5)}`] }
    const patch = random() < 0.5 ? { spec: { versions: spec.versions } } : { spec: { versions: spec.versions, names } }
    const answer = await this.#send({ method: 'PATCH', path: this.#path, body: patch, contentType: 'application/merge-patch+json' })
    if (answer.kind === 'done') this.#options.counts.changes += 1
    // The versions that both definitions have are served whatever the outcome.
    else if (answer.kind === 'refused') this.#versions = before
    else this.#versions = ['v1']
  }

  /** The server loses no object and shows no object that no client requested. */
  async #compare(): Promise<void> {
    const list = await this.#surely<{ items: readonly { metadata: { name: string } }[] } | undefined>({
      method: 'GET',
      path: this.#collection(),
    })
    if (list === undefined) return this.#fault('404 for a list after the acknowledgement')
    const listed = new Set(list.items.map(({ metadata }) => metadata.name))
    const lost = [...this.#created].filter((name) => !listed.has(name))
    const strange = [...listed].filter((name) => !this.#possible.has(name))
    if (lost.length > 0) this.#fault(`lost ${lost.join()}`)
    if (strange.length > 0) this.#fault(`has ${strange.join()}, which were refused or never asked for`)
  }

  /** Deletes the definition while other clients create objects. No create that begins after the acknowledged deletion succeeds. */
  async #remove(): Promise<void> {
    const { clients, counts, place } = this.#options
    let isGone = false
    let deletedMs = Number.POSITIVE_INFINITY
    const creating = clients.map(async (client, index) => {
      for (let count = 0; !isGone; count += 1) {
        const begunMs = performance.now()
        const answer = await this.#send({ method: 'POST', path: this.#collection(), body: this.#object(`late-${index}-${count}`) }, client)
        if (answer.kind === 'done' && begunMs > deletedMs)
          this.#fault('an object was created after the deletion of the definition had begun')
        await sleep(systemClock, pauseMs)
      }
    })
    const answer = await this.#send({ method: 'DELETE', path: this.#path })
    if (answer.kind === 'done') deletedMs = performance.now()
    isGone = await this.#waitUntilGone()
    isGone = true
    await Promise.all(creating)
    counts.removals += 1
    const left = await this.#options.keysBelow(`${place.group}/${place.plural}/`)
    if (left.length > 0) this.#fault(`objects without a definition: ${left.join()}`)
  }

  async #waitUntilGone(): Promise<boolean> {
    for (let looks = 0; looks < looksMax; looks += 1) {
      const found = await this.#surely<{ metadata: { deletionTimestamp?: string } } | undefined>({ method: 'GET', path: this.#path })
      if (found === undefined) return true
      if (found.metadata.deletionTimestamp === undefined) await this.#send({ method: 'DELETE', path: this.#path })
      await sleep(systemClock, pauseMs)
    }
    this.#fault('the definition does not go')
    return false
  }

  #collection(version = 'v1'): string {
    const { group, plural } = this.#options.place
    return `/apis/${group}/${version}/${plural}`
  }

  async #send(request: JsonRequest, client = pick(this.#options.random, this.#options.clients)): Promise<Answer> {
    try {
      return { kind: 'done', body: await client.request({ ...request, signal: AbortSignal.timeout(answerMsMax) }) }
    } catch (error) {
      if (error instanceof StatusError && error.code >= 400 && error.code < 500) return { kind: 'refused', code: error.code }
      if (error instanceof StatusError && error.code === 503) return { kind: 'refused', code: 503 }
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return { kind: 'refused', code: 0 }
      this.#options.counts.unknown += 1
      return { kind: 'unknown' }
    }
  }

  /** Reads until a gateway answers; undefined for a 404. */
  async #surely<T>(request: JsonRequest): Promise<T | undefined> {
    for (;;) {
      const answer = await this.#send(request)
      if (answer.kind === 'done') return answer.body as T
      if (answer.kind === 'refused' && answer.code === 404) return undefined
      await sleep(systemClock, pauseMs)
    }
  }

  #fault(what: string): void {
    const { group, plural } = this.#options.place
    this.#options.faults.push(`${plural}.${group}: ${what}`)
  }
}
