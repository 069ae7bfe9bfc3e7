import {
  type AdmissionService,
  type Amounts,
  type ApiObject,
  addAmounts,
  countingOf,
  createCatalogue,
  exceededNames,
  maskAmounts,
  parseAmounts,
  printAmounts,
  quotaManager,
  type StorageService,
  serviceUnavailable,
  UnknownOutcomeError,
} from '@orch/core'
import { type Clock, createMetrics, silentLog, systemClock } from '@orch/platform'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Admission, createAdmission } from '../../services/admission/src/index.ts'
import { createGateway, createWatchHub, type Gateway } from '../../services/gateway/src/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createWatch, unconverted } from '../../services/watch/src/index.ts'

const catalogue = createCatalogue('orch')
const version = {
  major: '1',
  minor: '25',
  gitVersion: 'v1.25.0',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '',
  goVersion: '',
  compiler: '',
  platform: '',
}
const hard = { pods: '9', 'requests.cpu': '1', 'services.nodeports': '5', 'count/services': '8' }
const quotaPath = '/api/v1/namespaces/default/resourcequotas'

/** Numbers in [0, 1) that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed * 2654435761
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

/** Two gateways and two admission processes over one storage. */
class Cluster {
  readonly storage: StorageService
  readonly #random: () => number
  #shiftMs = 0
  readonly clock: Clock
  readonly #admissions: Admission[] = []
  readonly #gateways: Gateway[] = []
  #turn = 0
  /** Chance that a gateway dies between what was reserved and the commit, or after the commit. */
  spoils = false

  constructor(storage: StorageService, random: () => number) {
    this.storage = storage
    this.#random = random
    this.clock = { ...systemClock, now: () => systemClock.now() + this.#shiftMs }
    for (let count = 0; count < 2; count++) this.#admissions.push(this.#openAdmission())
    for (let count = 0; count < 2; count++) this.#gateways.push(this.#openGateway())
  }

  /** All writes that are under way are too late after this. */
  passDeadlines(): void {
    this.#shiftMs += 600_000
  }

  /** One admission process dies, another comes in its place. */
  killAdmission(index: number): void {
    this.#admissions[index]?.close()
    this.#admissions[index] = this.#openAdmission()
  }

  async send(method: string, path: string, body?: object): Promise<{ code: number; body: ApiObject }> {
    const gateway = this.#gateways[this.#turn++ % 2] as Gateway
    const loopback = gateway.loopback({ name: 'admin', groups: ['system:masters'] })
    const answer = await loopback.send({
      method,
      path,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    return { code: answer.status, body: JSON.parse(Buffer.concat(chunks).toString() || '{}') as ApiObject }
  }

  async close(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.close()
    for (const admission of this.#admissions) admission.close()
  }

  #openAdmission(): Admission {
    const { storage, clock } = this
    // Pods need no account here, and nothing else that plugins add to them.
    const plugins = { enabled: [], disabled: ['ServiceAccount'] }
    return createAdmission({ storage, catalogue, clock, log: silentLog, random: this.#random, plugins })
  }

  #openGateway(): Gateway {
    const { clock } = this
    const random = this.#random
    const watch = createWatch({ storage: this.storage, clock, log: silentLog, random, convertOf: () => unconverted })
    const watchHub = createWatchHub({ watch, clock, log: silentLog, random })
    const next = () => this.#admissions[Math.floor(random() * 2)] as Admission
    const admission: AdmissionService = {
      admit: (request, context) => next().admit(request, context),
      outcome: (request, context) => next().outcome(request, context),
      interests: (request, context) => next().interests(request, context),
    }
    const storage: StorageService = { ...methodsOf(this.storage), commit: (request, context) => this.#commit(request, context) }
    return createGateway({
      ...{ catalogue, storage, watchHub, admission, clock, log: silentLog, version },
      random: (bound) => Math.floor(random() * bound),
      metrics: createMetrics({ process: false }),
    })
  }

  async #commit(...[request, context]: Parameters<StorageService['commit']>): ReturnType<StorageService['commit']> {
    const isObject = /^core\/(?:pods|services)\//.test(request.key)
    if (!this.spoils || !isObject) return this.storage.commit(request, context)
    const luck = this.#random()
    const died = () => new UnknownOutcomeError(serviceUnavailable('the gateway has died').status)
    if (luck < 0.1) throw died()
    const outcome = await this.storage.commit(request, context)
    if (luck < 0.2) throw died()
    return outcome
  }
}

function methodsOf(storage: StorageService): StorageService {
  return {
    get: (request, context) => storage.get(request, context),
    list: (request, context) => storage.list(request, context),
    commit: (request, context) => storage.commit(request, context),
    changes: (request, context) => storage.changes(request, context),
    getAt: (request, context) => storage.getAt(request, context),
    status: (request, context) => storage.status(request, context),
  }
}

async function aCluster(seed: number) {
  const store = createMemoryStore()
  const storage = await createStorage({ store })
  const random = seeded(seed)
  const cluster = new Cluster(storage, random)
  onTestFinished(async () => {
    await cluster.close()
    storage.close()
    await store.close()
  })
  await cluster.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })
  return { cluster, storage, random }
}

/** Looks at every state that there ever is. */
async function watchUse(storage: StorageService) {
  const use = new Map<string, Amounts>()
  const overruns: string[] = []
  const limits = parseAmounts(hard)
  const { revision, epoch } = await storage.status({})
  const stream = storage.changes({ after: revision, epoch, resources: ['core/pods', 'core/services'] })
  const total = () =>
    maskAmounts(
      [...use.values()].reduce(addAmounts, parseAmounts(Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])))),
      limits,
    )
  const done = (async () => {
    for await (const part of stream) {
      if (part.kind !== 'changes') continue
      for (const { key, after, revision } of part.changes) {
        const resource = key.split('/')[1] ?? ''
        if (after === undefined) use.delete(key)
        else use.set(key, countingOf(catalogue.names, { group: '', resource }).usage(JSON.parse(Buffer.from(after.value).toString()), 0))
        const exceeded = exceededNames(total(), limits)
        if (exceeded.size > 0) overruns.push(`at ${revision}: ${[...exceeded].join()}`)
      }
    }
  })()
  return {
    overruns,
    total: () => printAmounts(total()),
    async close() {
      stream.close()
      await done
    },
  }
}

async function recount(cluster: Cluster): Promise<number> {
  const { body: quota } = await cluster.send('GET', `${quotaPath}/q`)
  const { code } = await cluster.send('PUT', `${quotaPath}/q/status?fieldManager=${quotaManager}`, { ...quota, status: { hard, used: {} } })
  return code
}

const aPod = (name: string) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] },
})
const aService = (name: string, type: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type, ports: [{ port: 80 }] },
})

/** One thing that a client does. */
async function act(cluster: Cluster, random: () => number, id: number): Promise<void> {
  const name = `x${Math.floor(random() * 16)}`
  const pods = '/api/v1/namespaces/default/pods'
  const services = '/api/v1/namespaces/default/services'
  const type = random() < 0.5 ? 'NodePort' : 'ClusterIP'
  const choice = random()
  if (choice < 0.4) await cluster.send('POST', pods, aPod(random() < 0.5 ? `p${id}` : name))
  else if (choice < 0.6) await cluster.send('DELETE', `${pods}/${name}`, { gracePeriodSeconds: 0 })
  else if (choice < 0.75) await cluster.send('POST', services, aService(name, type))
  else if (choice < 0.9) await cluster.send('PUT', `${services}/${name}`, aService(name, type))
  else await cluster.send('DELETE', `${services}/${name}`)
}

test.each(Array.from({ length: 20 }, (_, seed) => [seed + 1]))(
  'ADM-BI-03, KIND-RQ-13: two gateways, two admission processes, deaths between reservation and commit, counting all the while: seed %i',
  { timeout: 120_000 },
  async (seed) => {
    const { cluster, storage, random } = await aCluster(seed)
    const use = await watchUse(storage)
    expect(
      (await cluster.send('POST', quotaPath, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } })).code,
    ).toBe(201)
    cluster.spoils = true
    let id = 0
    let isOver = false
    const counting = (async () => {
      while (!isOver) await recount(cluster)
    })()
    const clients = Array.from({ length: 64 }, async () => {
      for (let count = 0; count < 4; count++) {
        if (id === 100) cluster.killAdmission(0)
        if (id === 180) cluster.killAdmission(1)
        await act(cluster, random, id++)
      }
    })
    await Promise.all(clients)
    isOver = true
    await counting
    cluster.spoils = false
    cluster.passDeadlines()
    // What ends late changes the quota meanwhile: as the controller does, it is tried again.
    await vi.waitFor(async () => expect(await recount(cluster)).toBe(200))
    await vi.waitFor(async () => {
      const { status } = (await cluster.send('GET', `${quotaPath}/q`)).body as { status?: { used?: Record<string, string> } }
      expect(printAmounts(parseAmounts(status?.used))).toEqual(use.total())
    })
    const room = 9 - Number(use.total()['pods'])
    const last = await Promise.all(
      Array.from({ length: 12 }, (_, index) => cluster.send('POST', '/api/v1/namespaces/default/pods', aPod(`last${index}`))),
    )
    expect(last.filter(({ code }) => code === 201)).toHaveLength(room)
    expect(last.filter(({ code }) => code === 403)).toHaveLength(12 - room)
    await use.close()
    expect(use.overruns).toEqual([])
  },
)
