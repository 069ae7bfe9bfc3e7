import { createCatalogue } from '@orch/core/catalogue'
import { type AdmissionService, type StorageService, UnknownOutcomeError } from '@orch/core/contracts'
import { type ApiObject, serviceUnavailable } from '@orch/core/meta'
import { quotaManager } from '@orch/core/quota'
import { type Clock, silentLog, systemChance, systemClock } from '@orch/platform'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Admission, createAdmission } from '../../services/admission/src/index.ts'
import type { Gateway } from '../../services/gateway/src/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createRandom } from '../chaos/random.ts'
import { methodsOf, openPlainGateway } from '../gateway/plain-gateway.ts'
import { aPod, canonical, clientsAtOnce, hard, nextAct, seedsOf, Use } from './use.ts'

const catalogue = createCatalogue('orch')
const within = '/api/v1/namespaces/default'
const quotaPath = `${within}/resourcequotas`

/** Two gateways and two admission processes over one storage. */
class Cluster {
  readonly storage: StorageService
  readonly #random: () => number
  #shiftMs = 0
  readonly clock: Clock
  readonly #admissions: Admission[] = []
  readonly #gateways: Gateway[] = []
  #turn = 0
  /** The gateways of this run abandon some writes between the reservation and the commit, or after the commit. */
  spoils = false
  /** Abandoned writes, whose outcome no gateway reports. */
  readonly #abandoned = new Set<string>()
  readonly #isSplit: boolean

  /** Split: each admission process has a separate ledger, a mistake that the checker must find. */
  constructor(storage: StorageService, random: () => number, isSplit = false) {
    this.storage = storage
    this.#isSplit = isSplit
    this.#random = random
    this.clock = { ...systemClock, now: () => systemClock.now() + this.#shiftMs }
    for (let count = 0; count < 2; count++) this.#admissions.push(this.#openAdmission(count))
    for (let count = 0; count < 2; count++) this.#gateways.push(this.#openGateway())
  }

  /** The number of writes whose outcome no gateway reported. */
  get abandoned(): number {
    return this.#abandoned.size
  }

  /** After this, all writes in flight are too late. */
  passDeadlines(): void {
    this.#shiftMs += 600_000
  }

  /** One admission process dies, and another replaces it. */
  killAdmission(index: number): void {
    this.#admissions[index]?.close()
    this.#admissions[index] = this.#openAdmission(index)
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

  #openAdmission(index: number): Admission {
    const { clock } = this
    const storage = this.#isSplit ? withOwnLedgers(this.storage, index) : this.storage
    // Here plugins add nothing to Pods, and Pods need no account.
    const plugins = { enabled: [], disabled: ['ServiceAccount'] }
    return createAdmission({ storage, catalogue, clock, log: silentLog, random: this.#random, chance: systemChance, plugins })
  }

  #openGateway(): Gateway {
    const { clock } = this
    const random = this.#random
    const next = () => this.#admissions[Math.floor(random() * 2)] as Admission
    const admission: AdmissionService = {
      admit: (request, context) => next().admit(request, context),
      outcome: async (request, context) => {
        const isTold = !request.reservations.some((reservation) => this.#abandoned.has(writeIdOf(reservation)))
        return isTold ? next().outcome(request, context) : {}
      },
      admissionRules: (request, context) => next().admissionRules(request, context),
    }
    const storage: StorageService = { ...methodsOf(this.storage), commit: (request, context) => this.#commit(request, context) }
    return openPlainGateway({ storage, watched: this.storage, random, catalogue, admission, clock }).gateway
  }

  async #commit(...[request, context]: Parameters<StorageService['commit']>): ReturnType<StorageService['commit']> {
    const isObject = /^core\/(?:pods|services)\//.test(request.key)
    if (!this.spoils || !isObject) return this.storage.commit(request, context)
    const luck = this.#random()
    const died = () => {
      this.#abandoned.add(request.writeId)
      return new UnknownOutcomeError(serviceUnavailable('the gateway has died').status)
    }
    if (luck < 0.1) throw died()
    const outcome = await this.storage.commit(request, context)
    if (luck < 0.2) throw died()
    return outcome
  }
}

/** `quota/reservations/<namespace>/<quota>/<write id>.<uid>.<revision>`. */
function writeIdOf(reservation: string): string {
  return reservation.split('/')[4]?.split('.')[0] ?? ''
}

function withOwnLedgers(storage: StorageService, index: number): StorageService {
  const own = (key: string) => key.replace(/^quota\/reservations\//, `quota/reservations-${index}/`)
  return {
    ...methodsOf(storage),
    get: (request, context) => storage.get({ ...request, key: own(request.key) }, context),
    commit: (request, context) => {
      const conditions = request.conditions.map((condition) => ({ ...condition, key: own(condition.key) }))
      return storage.commit({ ...request, key: own(request.key), conditions }, context)
    },
  }
}

async function aCluster(seed: number, isSplit = false) {
  const store = createMemoryStore()
  const storage = await createStorage({ store })
  const random = createRandom(seed)
  const cluster = new Cluster(storage, random, isSplit)
  onTestFinished(async () => {
    await cluster.close()
    storage.close()
    await store.close()
  })
  await cluster.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })
  return { cluster, storage, random }
}

/** Checks every state of the store. */
async function watchUse(storage: StorageService) {
  const use = new Use()
  const { revision, epoch } = await storage.status({})
  const stream = storage.changes({ after: revision, epoch, resources: ['core/pods', 'core/services'] })
  const done = (async () => {
    for await (const part of stream) {
      if (part.kind !== 'changes') continue
      for (const { key, after, revision } of part.changes) {
        const object: unknown = after && JSON.parse(Buffer.from(after.value).toString())
        use.note({ revision, key: key.slice('core/'.length), after: object })
      }
    }
  })()
  return {
    use,
    async close() {
      stream.close()
      await done
    },
  }
}

async function recount(cluster: Cluster): Promise<number> {
  const { body: quota } = await cluster.send('GET', `${quotaPath}/q`)
  const { code } = await cluster.send('PUT', `${quotaPath}/q/status?fieldManager=${quotaManager(catalogue.names)}`, {
    ...quota,
    status: { hard, used: {} },
  })
  return code
}

async function createQuota(cluster: Cluster): Promise<void> {
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } }
  expect((await cluster.send('POST', quotaPath, quota)).code).toBe(201)
}

test.each(seedsOf(6))(
  'ADM-BI-03, KIND-RQ-13: usage never exceeds the quota with two gateways, two admission processes, and crashes between reservation and commit, while objects are counted: seed %i',
  async (seed) => {
    const { cluster, storage, random } = await aCluster(seed)
    const { use, close } = await watchUse(storage)
    await createQuota(cluster)
    cluster.spoils = true
    let id = 0
    let isOver = false
    const counting = (async () => {
      // In memory no call waits for an outside event, so this gives timers a turn.
      while (!isOver) {
        await recount(cluster)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const clients = Array.from({ length: clientsAtOnce }, async () => {
      for (let count = 0; count < 4; count++) {
        if (id === 100) cluster.killAdmission(0)
        if (id === 180) cluster.killAdmission(1)
        const { method, path, body } = nextAct(random, id++)
        await cluster.send(method, `${within}/${path}`, body)
      }
    })
    await Promise.all(clients)
    isOver = true
    await counting
    expect(cluster.abandoned).toBeGreaterThan(0)
    cluster.spoils = false
    cluster.passDeadlines()
    // A late write changes the quota meanwhile, and the recount is repeated, as the controller does.
    await vi.waitFor(async () => expect(await recount(cluster)).toBe(200), { timeout: 90_000 })
    await vi.waitFor(
      async () => {
        const { status } = (await cluster.send('GET', `${quotaPath}/q`)).body as { status?: { used?: Record<string, string> } }
        expect(canonical(status?.used)).toEqual(use.total())
      },
      { timeout: 90_000 },
    )
    const room = 9 - Number(use.total()['pods'])
    const last = await Promise.all(Array.from({ length: 12 }, (_, index) => cluster.send('POST', `${within}/pods`, aPod(`last${index}`))))
    expect(last.filter(({ code }) => code === 201)).toHaveLength(room)
    expect(last.filter(({ code }) => code === 403)).toHaveLength(12 - room)
    await close()
    expect(use.overruns).toEqual([])
  },
)

test('the checker finds writes that two admission processes with separate ledgers allow', async () => {
  const { cluster, storage } = await aCluster(1, true)
  const { use, close } = await watchUse(storage)
  await createQuota(cluster)
  await Promise.all(Array.from({ length: clientsAtOnce }, (_, index) => cluster.send('POST', `${within}/pods`, aPod(`p${index}`))))
  await vi.waitFor(() => expect(use.overruns).not.toEqual([]), { timeout: 90_000 })
  await close()
})
