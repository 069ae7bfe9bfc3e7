import type { Client, JsonRequest } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { quotaManager } from '@orch/core/quota'
import { sleep, systemClock } from '@orch/platform'
import { findBackend } from '@orch/testkit/backends'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { aHook, configurationsAt } from '../admission/hooks.ts'
import { allowing, aWebhookServer, type WebhookServer } from '../admission/webhook-server.ts'
import { objectInEtcd, readEtcdObjects } from '../chaos/etcd-log.ts'
import type { Link } from '../chaos/link.ts'
import { createRandom } from '../chaos/random.ts'
import { openServiceSet, type Service, type ServiceSet } from '../chaos/service-set.ts'
import { until } from '../chaos/waiting.ts'
import { type Act, aPod, canonical, clientsAtOnce, hard, nextAct, seedsOf, Use, type UseChange } from './use.ts'

const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))
const startMsMax = 60_000
/** The longest wait of a client. After it, the outcome of the request is unknown. */
const answerMsMax = 20_000
/** Longer than any request plus the difference of the clocks. */
const pastDeadlinesMs = 120_000

const podRule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }

interface Quota extends ApiObject {
  readonly status?: { readonly hard?: Record<string, string>; readonly used?: Record<string, string> }
}

interface Ledger {
  readonly reservations: readonly { readonly key: string }[]
}

describe.skipIf(missing.length > 0)(`a quota over real processes ${missing.join('; ')}`, () => {
  let set: ServiceSet
  let shiftMs = 0
  beforeAll(async () => {
    set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      counts: { gateway: 2, admission: 2, storage: 2, watch: 1, controllers: 1 },
      flags: { storage: ['--watch-history=24h'], controllers: ['--controllers=resourcequota,serviceaccount'] },
    })
  }, 120_000)
  afterAll(() => set?.close())

  /** The status code of a request's answer; 0 without an answer. */
  const send = async (gateway: number, request: JsonRequest): Promise<number> => {
    try {
      await (set.clients[gateway] as Client).request({ ...request, signal: AbortSignal.timeout(answerMsMax) })
      return 200
    } catch (error) {
      return error instanceof StatusError ? error.code : 0
    }
  }
  const surely = async <T>(path: string, method = 'GET', body?: object): Promise<T> => {
    let answer: T | undefined
    await until(async () => {
      const request = { method, path, signal: AbortSignal.timeout(answerMsMax), ...(body === undefined ? {} : { body }) }
      answer = await (set.clients[1] as Client).request<T>(request).catch(() => undefined)
      return answer !== undefined
    })
    return answer as T
  }
  const restart = async (names: readonly string[]) => {
    const processes = names.map((name) => set.processes.get(name))
    for (const process of processes) process?.start()
    // The clocks of admission processes may differ only by seconds.
    for (const process of processes) if (process?.name.startsWith('admission-')) process.shiftClock(shiftMs)
    for (const process of processes) await process?.ready(startMsMax)
  }
  const linksBetween = (caller: string, callee: Service) =>
    [...set.links].flatMap(([name, link]) => (name.startsWith(`${caller}>${callee}-`) ? [link] : []))

  const runOf = (namespace: string, webhook: WebhookServer) => {
    const within = `/api/v1/namespaces/${namespace}`
    const quotaPath = `${within}/resourcequotas/q`
    const isReserved = async (name: string) => {
      const ledger = await objectInEtcd<Ledger>(set.etcd.address, `/orch/keys/quota/reservations/${namespace}/q`)
      return ledger?.reservations.some(({ key }) => key.endsWith(`/${name}`)) ?? false
    }
    const isStored = async (name: string) =>
      (await objectInEtcd(set.etcd.address, `/orch/keys/core/pods/${namespace}/${name}`)) !== undefined
    const create = (gateway: number, name: string) => send(gateway, { method: 'POST', path: `${within}/pods`, body: aPod(name) })
    const makeRoom = () =>
      until(async () => {
        const { items } = await surely<{ items: readonly ApiObject[] }>(`${within}/pods`)
        const remove = (name = '') => send(1, { method: 'DELETE', path: `${within}/pods/${name}`, body: { gracePeriodSeconds: 0 } })
        await Promise.all(items.map(({ metadata }) => remove(metadata.name)))
        return items.length === 0
      })
    /** Lets a gateway create a Pod. The test mutes the links just before the gateway requests a reservation, which is then made without an answer. */
    const keepUnheard = async (gateway: number, name: string, links: readonly Link[], side: 'caller' | 'callee') => {
      await makeRoom()
      // A refused write does not cause a recount at once.
      await until(async () => (await run.recount()) === 200)
      // The server calls this webhook last before the quota.
      webhook.reply = (called, response) => {
        for (const link of links) link.mute(side)
        allowing(called, response)
      }
      const { metadata, ...pod } = aPod(name)
      const body = { ...pod, metadata: { ...metadata, labels: { held: 'yes' } } }
      void send(gateway, { method: 'POST', path: `${within}/pods`, body })
      await until(() => isReserved(name))
      webhook.reply = allowing
    }
    const run = {
      within,
      quotaPath,
      create,
      /** A gateway dies between reservation and commit; its later commits are lost. */
      async killGateway(load: Load) {
        const links = linksBetween('gateway-0', 'storage')
        await load.goOn()
        await load.pause()
        await keepUnheard(0, 'left', links, 'caller')
        await load.goOn()
        await set.processes.get('gateway-0')?.kill()
        expect([await isReserved('left'), await isStored('left')]).toEqual([true, false])
        for (const link of links) link.hear()
        await restart(['gateway-0'])
      },
      /** Admission processes die between a reservation and its answer; their later answers are lost. */
      async killAdmissions(load: Load) {
        const links = [...linksBetween('gateway-0', 'admission'), ...linksBetween('gateway-1', 'admission')]
        await load.goOn()
        await load.pause()
        await keepUnheard(1, 'unheard', links, 'callee')
        await load.goOn()
        await Promise.all(set.of('admission').map((process) => process.kill()))
        for (const link of links) link.hear()
        await restart(['admission-0', 'admission-1'])
      },
      async recount() {
        const quota = await surely<Quota>(quotaPath)
        const path = `${quotaPath}/status`
        return send(1, {
          method: 'PUT',
          path,
          query: { fieldManager: quotaManager(namesOf('orch')) },
          body: { ...quota, status: { hard, used: {} } },
        })
      },
      async use() {
        const of = async (resource: string): Promise<UseChange[]> => {
          const { changes } = await readEtcdObjects<ApiObject>(set.etcd.address, `/orch/keys/core/${resource}/${namespace}/`)
          return changes.map((change) => ({ ...change, key: `${resource}/${change.key}` }))
        }
        const changes = [...(await of('pods')), ...(await of('services'))].sort((a, b) => a.revision - b.revision)
        return { ...judge(changes), changes }
      },
      async used() {
        return canonical((await surely<Quota>(quotaPath)).status?.used)
      },
    }
    return run
  }

  test.each(seedsOf(1))(
    'ADM-BI-03, KIND-RQ-13: is never exceeded in etcd when any process dies, and its use is exact at the end: seed %i',
    { timeout: 240_000 },
    async (seed) => {
      const namespace = `quota-${seed}`
      const webhook = await aWebhookServer(allowing)
      const run = runOf(namespace, webhook)
      await surely('/api/v1/namespaces', 'POST', { metadata: { name: namespace } })
      await surely(`${run.within}/serviceaccounts/default`)
      await surely(`${run.within}/resourcequotas`, 'POST', { metadata: { name: 'q' }, spec: { hard } })
      await surely(`${configurationsAt}/validatingwebhookconfigurations`, 'POST', {
        metadata: { name: namespace },
        webhooks: [aHook(webhook, namespace, { rules: [podRule], objectSelector: { matchLabels: { held: 'yes' } } })],
      })
      const load = startLoad({
        random: createRandom(seed),
        send: (gateway, { method, path, body }) =>
          send(gateway, { method, path: `${run.within}/${path}`, ...(body === undefined ? {} : { body }) }),
        recount: run.recount,
      })
      onTestFinished(load.stop)
      await run.killGateway(load)
      await run.killAdmissions(load)
      await load.goOn()
      await load.stop()
      // The reservations of dead processes become free when their writes can no longer arrive.
      shiftMs += pastDeadlinesMs
      for (const process of set.of('admission')) process.shiftClock(shiftMs)
      await until(async () => (await run.recount()) === 200)
      await until(async () => JSON.stringify(await run.used()) === JSON.stringify(canonical((await run.use()).total)))
      expect((await run.use()).overruns).toEqual([])
      const room = 9 - Number((await run.use()).total['pods'])
      const last = await Promise.all(Array.from({ length: 20 }, (_, index) => run.create(index % 2, `last${index}`)))
      expect(last.filter((code) => code === 200)).toHaveLength(room)
      expect(last.filter((code) => code === 403)).toHaveLength(20 - room)
      const { overruns, total, changes } = await run.use()
      expect(overruns).toEqual([])
      expect(await run.used()).toEqual(canonical(total))
      expect(judge([...changes, { revision: 0, key: 'pods/planted', after: aPod('planted') }]).overruns).not.toEqual([])
      process.stdout.write(`seed ${seed}: ${load.report()}\n`)
    },
  )
})

interface LoadOptions {
  readonly random: () => number
  /** Returns the status code of the answer; 0 without an answer. */
  readonly send: (gateway: number, act: Act) => Promise<number>
  readonly recount: () => Promise<unknown>
}

/** Clients at two gateways. */
interface Load {
  /** Resolves when no request waits for an answer. */
  pause(): Promise<void>
  /** Resolves when each client has begun a request. */
  goOn(): Promise<void>
  stop(): Promise<void>
  report(): string
}

/** Begins to write and lets the controller recount the use continuously. */
function startLoad({ random, send, recount }: LoadOptions): Load {
  const codes = new Map<number, number>()
  let gate: PromiseWithResolvers<void> | undefined
  let [isOver, sent, inFlight] = [false, 0, 0]
  const during = async (work: () => Promise<unknown>) => {
    while (gate !== undefined) await gate.promise
    inFlight += 1
    await work()
    inFlight -= 1
  }
  const work = async (_: unknown, index: number) => {
    while (!isOver) {
      await during(async () => {
        sent += 1
        const code = await send((index + sent) % 2, nextAct(random, sent))
        codes.set(code, (codes.get(code) ?? 0) + 1)
        // The system refuses connections to a dead process at once.
        if (code === 0) await sleep(systemClock, 100)
      })
    }
  }
  const count = async () => {
    while (!isOver) await during(recount)
  }
  const working = [...Array.from({ length: clientsAtOnce }, work), count()]
  const open = () => {
    gate?.resolve()
    gate = undefined
  }
  return {
    async pause() {
      gate ??= Promise.withResolvers()
      await until(() => inFlight === 0)
    },
    async goOn() {
      const before = sent
      open()
      await until(() => sent >= before + clientsAtOnce)
    },
    async stop() {
      isOver = true
      open()
      await Promise.all(working)
    },
    report: () => `${sent} requests, by code ${JSON.stringify(Object.fromEntries(codes))}`,
  }
}

function judge(changes: readonly UseChange[]): { readonly overruns: readonly string[]; readonly total: Record<string, string> } {
  const use = new Use()
  for (const change of changes) use.note(change)
  return { overruns: use.overruns, total: use.total() }
}
