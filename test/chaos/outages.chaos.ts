import type { Client } from '@orch/client'
import { findBackend } from '@orch/testkit/backends'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFault } from '../watch/checker.ts'
import { readEtcdLog } from './etcd-log.ts'
import { readyMsMax } from './faults.ts'
import { configMaps, namespace } from './load.ts'
import { keysOfRun } from './run.ts'
import { openServiceSet, type Service, type ServiceSet } from './service-set.ts'
import { longestGapMs, type SteadyLoad, startSteadyLoad } from './steady-load.ts'
import { until } from './waiting.ts'
import { openWatcher, type Watcher } from './watcher.ts'

const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))
const waitMsMax = 60_000

describe.skipIf(missing.length > 0)(`outages of one process after the other ${missing.join('; ')}`, () => {
  let set: ServiceSet
  beforeAll(async () => {
    set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      counts: { admission: 2, controllers: 2 },
      etcdMembers: 3,
      flags: { storage: ['--watch-history=24h'] },
    })
    await (set.clients[0] as Client).request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } })
  }, 120_000)
  afterAll(() => set?.close())

  async function openWatchers(): Promise<Watcher[]> {
    const acknowledged = () => 0
    // Two watchers use each gateway. When the run kills a watcher's gateway, the watcher uses the other gateway.
    return Promise.all(
      [0, 1, 2, 3].map((index) => openWatcher({ clients: clientsFrom(index), app: index < 2 ? undefined : 'web', acknowledged })),
    )
  }

  const clientsFrom = (index: number) => (index % 2 === 0 ? set.clients : set.clients.toReversed())
  const gatewayOf = ({ at }: Watcher, index: number) => `gateway-${set.clients.indexOf(clientsFrom(index)[at] as Client)}`

  /** An object that every watcher selects. A watcher that has seen it has seen all earlier objects. */
  async function seenByAll(watchers: readonly Watcher[], name: string): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { app: 'web' } }, data: { text: name } }
    const { metadata } = await (set.clients[0] as Client).resource(configMaps).create(object)
    await until(() => watchers.every(({ reached }) => reached >= Number(metadata.resourceVersion)))
  }

  async function faultsOf(watchers: readonly Watcher[]): Promise<unknown[]> {
    const { changes } = await readEtcdLog(set.etcd.address, keysOfRun)
    return watchers.map(({ observation, failure }) => failure ?? findFault(changes, observation))
  }

  const services: readonly Service[] = ['gateway', 'storage', 'watch', 'admission', 'controllers']
  for (const service of services) {
    test(`CARD-25: requests continue while each ${service} in turn is killed under load, and watches of other gateways stay open`, async () => {
      const watchers = await openWatchers()
      const load = startSteadyLoad({ clients: set.clients, workers: 6, retries: service === 'gateway' })
      const lines: string[] = []
      const late: string[] = []
      const ended: string[] = []
      for (const one of set.of(service)) {
        await answers(load, 100)
        const before = watchers.map((watcher, place) => ({ resumed: watcher.resumed, gateway: gatewayOf(watcher, place) }))
        const failed = load.failures.length
        const from = performance.now()
        await one.kill()
        // The process stays down until the others have worked without it.
        await answers(load, 300)
        const gapMs = longestGapMs(load.answered, { from, until: performance.now() })
        one.start()
        const readyMs = await one.ready(waitMsMax)
        await answers(load, 100)
        if (readyMs > readyMsMax) late.push(`${one.name} after ${readyMs} ms`)
        for (const [place, watcher] of watchers.entries()) {
          const { resumed, gateway } = before[place] ?? { resumed: 0, gateway: '' }
          if (watcher.resumed !== resumed && gateway !== one.name) ended.push(`watcher ${place} when ${one.name} was killed`)
        }
        lines.push(
          `${one.name}: longest time without an answer ${gapMs.toFixed(0)} ms, ${load.failures.length - failed} requests failed, ready after ${readyMs.toFixed(0)} ms`,
        )
      }
      await load.stop()
      await seenByAll(watchers, `last-${service}`)
      for (const watcher of watchers) await watcher.stop()
      const whys = Map.groupBy(load.failures, ({ why }) => why)
      process.stdout.write(`${[...lines, ...[...whys].map(([why, those]) => `  ${those.length} ${why}`)].join('\n')}\n`)
      expect({ late, ended, faults: await faultsOf(watchers) }).toEqual({ late: [], ended: [], faults: watchers.map(() => undefined) })
    }, 240_000)
  }

  test('CARD-25: requests continue while each member of etcd in turn, and NATS, is killed under load, and watches stay open', async () => {
    const watchers = await openWatchers()
    const load = startSteadyLoad({ clients: set.clients, workers: 6, retries: true })
    const lines: string[] = []
    const programs = [
      ...set.etcdMembers.map((member, index) => ({ name: `etcd member ${index}`, program: member })),
      { name: 'NATS', program: set.nats },
    ]
    for (const { name, program } of programs) {
      await answers(load, 100)
      const failed = load.failures.length
      const retried = load.retried
      const from = performance.now()
      await program.kill()
      await answers(load, 300)
      const gapMs = longestGapMs(load.answered, { from, until: performance.now() })
      await program.start()
      await answers(load, 100)
      lines.push(
        `${name}: longest time without an answer ${gapMs.toFixed(0)} ms, ${load.failures.length - failed} requests failed, ${load.retried - retried} were asked again`,
      )
    }
    await load.stop()
    await seenByAll(watchers, 'last-program')
    for (const watcher of watchers) await watcher.stop()
    process.stdout.write(`${lines.join('\n')}\n`)
    expect({ failures: load.failures, resumed: watchers.map(({ resumed }) => resumed), faults: await faultsOf(watchers) }).toEqual({
      failures: [],
      resumed: watchers.map(() => 0),
      faults: watchers.map(() => undefined),
    })
  }, 240_000)

  test('CARD-25: no request of a client that retries fails while every service is restarted one after the other', async () => {
    const watchers = await openWatchers()
    const load = startSteadyLoad({ clients: set.clients, workers: 6, retries: true })
    for (const service of services) {
      for (const one of set.of(service)) {
        await answers(load, 100)
        await one.stop()
        await answers(load, 100)
        one.start()
        await one.ready(waitMsMax)
      }
    }
    await answers(load, 100)
    await load.stop()
    await seenByAll(watchers, 'last-restarted')
    for (const watcher of watchers) await watcher.stop()
    process.stdout.write(`rolling restart: ${load.answered.length} requests answered, ${load.retried} asked again\n`)
    expect({ failures: load.failures, faults: await faultsOf(watchers) }).toEqual({ failures: [], faults: watchers.map(() => undefined) })
  }, 300_000)
})

/** Waits until this number of further requests has succeeded. */
function answers(load: SteadyLoad, count: number): Promise<void> {
  const wanted = load.answered.length + count
  return until(() => load.answered.length >= wanted)
}
