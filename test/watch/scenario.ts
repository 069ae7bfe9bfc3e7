import type { CommitRequest, Selection, StorageService, SubscribeRequest, WatchService } from '@orch/core/contracts'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { createMetrics, silentLog } from '@orch/platform'
import { createFakeChangeStream, createFakeClock, type FakeClock } from '@orch/testkit'
import { createWatchHub, type WatchAttachment, type WatchHub, type WatchSink } from '../../services/gateway/src/watch-hub/index.ts'
import { createMemoryStore, createStorage, type Storage } from '../../services/storage/src/index.ts'
import { createPublisher } from '../../services/storage/src/publisher/index.ts'
import { createChangeSource, createWatch, unconverted } from '../../services/watch/src/index.ts'
import type { Observation, Step, TrueChange } from './checker.ts'
import { type ChangeStreamFault, type Fault, faultyDelivery, faultyStorage, faultyWatch } from './faults.ts'
import { type Joints, joinDirectly } from './joints.ts'

export interface ScenarioOptions {
  readonly seed: number
  readonly steps: number
  readonly fault?: Fault
  /**
   * Changes reach watch over a published stream. The scenario interrupts, purges and loses the stream, lets two publishers publish at once, and damages
   * one of ten messages in transit.
   */
  readonly published?: { readonly fault: ChangeStreamFault | undefined }
  /** The connections between the services; default: function calls with recorded messages. */
  readonly join?: (storage: StorageService, watch: WatchService) => Joints | Promise<Joints>
}

const resource = 'core/configmaps'
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Writers write, storage compacts the history, watch restarts, and clients list, watch, pause and resume their watches. The seed decides the moments. At
 * the end every client has received the last change.
 */
export async function runScenario({ seed, steps, fault, published, join = joinDirectly }: ScenarioOptions) {
  const random = createRandom(seed)
  const clock = createFakeClock()
  const storage = await createStorage({ store: createMemoryStore(), clock })
  let wasPlanted = false
  const onPlanted = () => {
    wasPlanted = true
  }
  const restartable: WatchService = { subscribe: (request, context) => watch.subscribe(request, context) }
  const joints = await join(storage, faultyWatch(restartable, fault, onPlanted))
  const changeSource = published === undefined ? undefined : openSource(storage, { clock, random, fault: published.fault })
  const startWatch = () => {
    const limits = { windowBytesMax: random() < 0.5 ? 4_000 : 1_000_000 }
    return createWatch({
      storage: changeSource?.changes ?? joints.storage,
      clock,
      log: silentLog,
      random,
      convertOf: () => unconverted,
      limits,
    })
  }
  let watch = startWatch()
  const hub = createWatchHub({ watch: joints.watch, clock, log: silentLog, random })
  const writer = new Writer(storage, random)
  const source = faultyStorage(storage, fault, onPlanted)
  const clients = [undefined, undefined, 'web', 'web', 'db'].map((app) => new ScenarioClient({ storage: source, hub, writer, app }))
  let restarts = 0
  for (let step = 0; step < steps; step += 1) {
    const dice = random()
    if (dice < 0.7) writer.write()
    else if (dice < 0.74) await storage.compact(Math.max(1, writer.acknowledged - Math.floor(random() * 40)))
    else if (dice < 0.76) {
      watch.close()
      await joints.cutWatch()
      watch = startWatch()
      restarts += 1
    } else if (dice < 0.84) clients[Math.floor(random() * clients.length)]?.change(random)
    else if (dice < 0.92) clock.advance(200)
    else if (dice < 0.925) changeSource?.trouble()
    else await turn()
  }
  changeSource?.stream.goUp()
  await writer.settled()
  for (const client of clients) client.resume()
  // Connections are opened again in real time, in which a server at rest takes any number of turns.
  const endsMs = performance.now() + 30_000
  while (clients.some((client) => client.reached < writer.acknowledged)) {
    if (performance.now() > endsMs) throw new Error(`seed ${seed}: a client has not been served to the end`)
    clock.advance(500)
    await turn()
  }
  for (const client of clients) client.finish()
  const departures = (await changeSource?.departures()) ?? new Map<string, number>()
  hub.close()
  watch.close()
  await changeSource?.close()
  storage.close()
  joints.close()
  const relists = clients.reduce((sum, client) => sum + client.observations.length - 1, 0)
  return {
    truth: writer.truth(),
    observations: clients.flatMap((client) => client.observations),
    restarts,
    relists,
    wasPlanted,
    /** The number of times that watch had to read published changes from storage, by reason. */
    departures,
  }
}

/** Two publishers that both believe to be leader, a stream that the test can damage, and the change source that watch reads. */
function openSource(storage: Storage, options: { clock: FakeClock; random: () => number; fault: ChangeStreamFault | undefined }) {
  const { clock, random, fault } = options
  const stream = createFakeChangeStream()
  stream.deliver = faultyDelivery(fault, random)
  const leadership = { isLeader: true, onChange: () => () => {} }
  const environment = { storage, stream, clock, log: silentLog, random }
  const publishers = [0, 1].map(() => createPublisher({ ...environment, leadership, metrics: createMetrics({ process: false }) }))
  const metrics = createMetrics({ process: false })
  const changes = createChangeSource({ ...environment, metrics })
  const troubles = [() => stream.goDown(), () => stream.goUp(), () => stream.purge(), () => stream.lose()]
  return {
    stream,
    changes,
    trouble: () => troubles[Math.floor(random() * troubles.length)]?.(),
    async departures() {
      const counts = (await metrics.text()).matchAll(/gap_fills_total\{reason="(\w+)"\} (\d+)/g)
      return new Map(Array.from(counts, ([, reason = '', count]) => [reason, Number(count)]))
    },
    async close() {
      changes.close()
      stream.goDown()
      const closing = publishers.map((publisher) => publisher.close())
      await Promise.all(closing)
    },
  }
}

/** Random puts and deletes of a few keys, many concurrent. */
class Writer {
  readonly #storage: StorageService
  readonly #random: () => number
  readonly #changes: TrueChange[] = []
  readonly #underWay = new Set<Promise<void>>()
  readonly #known = new Map<string, number>()
  #count = 0
  acknowledged = 0

  constructor(storage: StorageService, random: () => number) {
    this.#storage = storage
    this.#random = random
  }

  write(): void {
    this.#count += 1
    const name = `n${Math.floor(this.#random() * 10)}`
    const key = `${resource}/${name}`
    const app = this.#random() < 0.5 ? 'web' : 'db'
    const text = `t${this.#count}`
    const expected = this.#known.get(key) ?? 0
    const isDelete = expected !== 0 && this.#random() < 0.2
    const request: CommitRequest = { key, expected, conditions: [], writeId: text }
    const done = this.#commit(
      isDelete ? request : { ...request, value: storedObject({ name, app, text }) },
      isDelete ? undefined : { text, app },
    )
    this.#underWay.add(done)
    void done.then(() => this.#underWay.delete(done))
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  truth(): readonly TrueChange[] {
    return this.#changes.toSorted((a, b) => a.revision - b.revision)
  }

  async #commit(request: CommitRequest, after: TrueChange['after']): Promise<void> {
    const { key } = request
    const outcome = await this.#storage.commit(request)
    if (outcome.kind === 'written') {
      this.#changes.push({ revision: outcome.revision, key, after })
      this.#learn(key, after === undefined ? 0 : outcome.revision, outcome.revision)
      this.acknowledged = Math.max(this.acknowledged, outcome.revision)
    } else if (outcome.kind === 'stale') this.#known.set(key, outcome.current?.revision ?? 0)
  }

  #learn(key: string, revision: number, at: number): void {
    if (at > (this.#known.get(key) ?? 0)) this.#known.set(key, revision)
  }
}

function storedObject({ name, app, text }: { name: string; app: string; text: string }): Uint8Array {
  const encoded = encodeObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, labels: { app } }, data: { text } })
  return encodeStored({ fingerprint: 0, writeId: text, expiresAtMs: 0, encoded, labels: { app }, fields: {} })
}

/** Lists and watches, and lists again after a lost history, like clients. */
class ScenarioClient implements WatchSink {
  readonly #storage: StorageService
  readonly #hub: WatchHub
  readonly #writer: Writer
  readonly #app: string | undefined
  readonly #selection: Selection
  readonly observations: Observation[] = []
  #steps: Step[] = []
  #attachment: WatchAttachment | undefined
  #isListing = false
  #epoch = ''
  reached = 0

  constructor({ storage, hub, writer, app }: { storage: StorageService; hub: WatchHub; writer: Writer; app: string | undefined }) {
    this.#storage = storage
    this.#hub = hub
    this.#writer = writer
    this.#app = app
    this.#selection = { labels: app === undefined ? [] : [{ key: 'app', operator: 'In', values: [app] }], fields: [] }
  }

  /** Pauses, resumes or begins anew. */
  change(random: () => number): void {
    if (this.#attachment !== undefined) this.#pause()
    else if (random() < 0.7) this.resume()
    else this.#begin()
  }

  /** WATCH-18: resumes from the last seen revision. */
  resume(): void {
    if (this.#attachment !== undefined || this.#isListing) return
    if (this.observations.length === 0) this.#begin()
    else this.#attach()
  }

  finish(): void {
    this.#pause()
  }

  frames(bytes: Uint8Array, lastRevision: number): void {
    for (const line of Buffer.from(bytes).toString().trimEnd().split('\n')) {
      const { type, object } = JSON.parse(line)
      const revision = Number(object.metadata.resourceVersion)
      this.#steps.push({ kind: 'event', type, key: `${resource}/${object.metadata.name}`, revision, text: object.data.text })
    }
    this.reached = Math.max(this.reached, lastRevision)
  }

  position(revision: number): void {
    this.#steps.push({ kind: 'position', revision })
    this.reached = Math.max(this.reached, revision)
  }

  expired(): void {
    this.#attachment = undefined
    this.#begin()
  }

  replaced(): void {
    this.expired()
  }

  #pause(): void {
    this.#attachment?.close()
    this.#attachment = undefined
  }

  #begin(): void {
    if (this.#isListing) return
    this.#isListing = true
    void this.#list().finally(() => {
      this.#isListing = false
    })
  }

  async #list(): Promise<void> {
    const acknowledged = this.#writer.acknowledged
    const listed = new Map<string, string>()
    let listRevision = 0
    const request = {
      scope: { resource },
      selection: this.#selection,
      read: { kind: 'latest' },
      limit: 0,
      start: '',
      layout: 'entries',
    } as const
    for await (const part of this.#storage.list(request)) {
      if (part.kind === 'head') {
        listRevision = part.revision
        this.#epoch = part.epoch
      } else if (part.kind === 'entries') {
        for (const { key, value } of part.entries) listed.set(key, JSON.parse(Buffer.from(value).toString()).data.text)
      }
    }
    this.#steps = []
    this.reached = listRevision
    this.observations.push({ app: this.#app, acknowledged, listRevision, listed, steps: this.#steps })
    this.#attach()
  }

  #attach(): void {
    const version = { group: '', version: 'v1', resource: 'configmaps', format: { kind: 'json' } } as const
    const request: SubscribeRequest = {
      scope: { resource },
      selection: this.#selection,
      ...version,
      after: this.reached,
      epoch: this.#epoch,
    }
    this.#attachment = this.#hub.attach({ request, sink: this })
  }
}

/** A generator of numbers in [0, 1) that the seed determines (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
