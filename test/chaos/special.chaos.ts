import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@orch/client'
import { sleep, systemClock } from '@orch/platform'
import { findBackend } from '@orch/testkit/backends'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { findFault } from '../watch/checker.ts'
import { compactEtcd, readEtcdLog, revisionInEtcd } from './etcd-log.ts'
import { type ChaosObject, configMaps, namespace } from './load.ts'
import { keysOfRun } from './run.ts'
import { openServiceSet, type ServiceSet } from './service-set.ts'
import { until } from './waiting.ts'
import { openWatcher, type Watcher } from './watcher.ts'

const [etcd, nats] = [await findBackend('etcd'), await findBackend('nats-server')]
const missing = [etcd, nats].flatMap((backend) => (backend.kind === 'missing' ? [`[skipped: ${backend.reason}]`] : []))
/** A lease ends when its holder has not renewed it for ten seconds. */
const pauseSeconds = Number(process.env['ORCH_CHAOS_PAUSE_SECONDS'] ?? 14)

describe.skipIf(missing.length > 0)(`rare faults, with real processes ${missing.join('; ')}`, () => {
  let set: ServiceSet
  let client: Client
  let names = 0
  beforeEach(async () => {
    set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      counts: { controllers: 0 },
    })
    client = set.clients[0] as Client
    await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } })
  }, 120_000)
  afterEach(() => set?.close())

  const maps = (of = client) => of.resource<ChaosObject>(configMaps)
  const aMap = (name: string, app = 'web'): ChaosObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { app } },
    data: { text: name },
  })
  const make = async (count: number, app = 'web') => {
    for (let index = 0; index < count; index += 1) await maps().create(aMap(`${app}-${++names}`, app))
  }
  const watchers = (app?: string) =>
    Promise.all([0, 1].map((index) => openWatcher({ clients: [set.clients[index] as Client], app, acknowledged: () => 0 })))
  /** An object for the watchers. A watcher that has seen it has seen all earlier objects. */
  const seenByAll = async (those: readonly Watcher[], app = 'web') => {
    const { metadata } = await maps().create(aMap(`last-${++names}`, app))
    await until(() => those.every(({ reached }) => reached >= Number(metadata.resourceVersion)))
    for (const watcher of those) await watcher.stop()
  }
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 200,
      (error: { code: number }) => error.code,
    )

  test('WATCH-20: a quiet watch continues while all history is compacted and every watch replica is replaced', async () => {
    const quiet = await watchers('quiet')
    for (const one of [...set.of('watch'), ...set.of('watch')]) {
      await make(20)
      // Storage sends its position once a second, so the watches' positions are newer than the compacted revisions.
      await sleep(systemClock, 2_500)
      await compactEtcd(set.etcd.address)
      await make(5)
      await one.kill()
      one.start()
      await one.ready(60_000)
    }
    await seenByAll(quiet, 'quiet')
    expect(quiet.map(({ failure, resumed, events }) => ({ failure, resumed, events }))).toEqual(
      quiet.map(() => ({ failure: undefined, resumed: 0, events: 1 })),
    )
  }, 180_000)

  test(
    `CARD-18: a publisher that is stopped for ${pauseSeconds} s, and continues after another publisher has taken over, publishes nothing`,
    async () => {
      const isPublishing = async (one: (typeof storages)[number]) => /^change_feed_publishing(\{[^}]*\})? 1$/m.test(await one.metrics())
      const storages = set.of('storage')
      const those = await watchers()
      await make(20)
      const publishing = () => Promise.all(storages.map(isPublishing))
      await until(async () => (await publishing()).filter(Boolean).length === 1)
      const leads = await publishing()
      const [leader, other] = leads[0] ? storages : storages.toReversed()
      if (leader === undefined || other === undefined) throw new Error('there are two storages')
      expect(leads.filter(Boolean)).toHaveLength(1)
      leader.pause()
      const endsMs = performance.now() + pauseSeconds * 1_000
      // Calls that wait for this process go to another process after their time limit. The client may lose some answers; the store loses none.
      const attempt = (name: string) => maps(set.clients[1]).create(aMap(name), { signal: AbortSignal.timeout(20_000) })
      let written = 0
      while (performance.now() < endsMs || !(await isPublishing(other))) {
        written += await attempt(`paused-${++names}`).then(
          () => 1,
          () => 0,
        )
        await sleep(systemClock, 50)
      }
      leader.resume()
      await make(20)
      await until(async () => !(await isPublishing(leader)))
      await make(20)
      await seenByAll(those)
      const { changes } = await readEtcdLog(set.etcd.address, keysOfRun)
      expect(written).toBeGreaterThan(0)
      expect(those.map(({ observation, failure, resumed }) => [failure, resumed, findFault(changes, observation)])).toEqual(
        those.map(() => [undefined, 0, undefined]),
      )
    },
    (120 + 2 * pauseSeconds) * 1_000,
  )

  test('WATCH-22, CHUNK-05: after etcd is restored to its past, watches end with 410, tokens are 410, and the restored state is served', async () => {
    await make(10)
    const kept = (await maps().list({ namespace })).items.length
    const snapshot = join(set.folder, 'snapshot')
    await set.etcd.stop()
    cpSync(set.etcd.dataDir, snapshot, { recursive: true })
    await set.etcd.start()
    await until(async () => (await codeOf(maps().create(aMap('lost')))) === 200)
    await make(10)
    const page = await maps().list({ namespace, limit: 3 })
    const those = await watchers()
    await set.etcd.kill()
    rmSync(set.etcd.dataDir, { recursive: true })
    cpSync(snapshot, set.etcd.dataDir, { recursive: true })
    await set.etcd.start()
    await until(() => those.every(({ failure }) => failure !== undefined))
    const list = await maps().list({ namespace })
    expect(list.items).toHaveLength(kept)
    expect({
      token: await codeOf(maps().list({ namespace, limit: 3, continue: page.metadata.continue })),
      get: await codeOf(maps().get('lost', { namespace })),
      otherGateway: (await maps(set.clients[1]).list({ namespace })).items.length,
    }).toEqual({ token: 410, get: 404, otherGateway: kept })
    const fresh = await watchers()
    await make(3)
    await seenByAll(fresh)
    expect(fresh.map(({ failure, events }) => [failure, events])).toEqual(fresh.map(() => [undefined, 4]))
  }, 180_000)

  test('CHUNK-05: while the past is compacted, a page is at the revision of its list or a 410, and never at another revision', async () => {
    await make(30)
    const outcomes = { whole: 0, expired: 0 }
    /** Storage keeps the history for its configured time even if etcd compacts; a new process has only etcd's history. */
    const forget = async () => {
      await compactEtcd(set.etcd.address)
      for (const one of set.of('storage')) {
        await one.kill()
        one.start()
        await one.ready(60_000)
      }
    }
    const wrong: string[] = []
    for (let round = 0; round < 6; round += 1) {
      const first = await maps().list({ namespace, limit: 7 })
      const expected = (await maps().list({ namespace, resourceVersion: first.metadata.resourceVersion, resourceVersionMatch: 'Exact' }))
        .items
      const got = [...first.items]
      let token = first.metadata.continue
      try {
        while (token !== undefined && token !== '') {
          await make(1)
          await maps()
            .delete((got[0] as ChaosObject).metadata.name ?? '', { namespace })
            .catch(() => {})
          if (round % 2 === 0 && got.length > 7) await forget()
          const next = await maps(set.clients[round % 2]).list({ namespace, limit: 7, continue: token })
          got.push(...next.items)
          token = next.metadata.continue
        }
        outcomes.whole += 1
        const printed = (items: readonly ChaosObject[]) =>
          items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).join()
        if (printed(got) !== printed(expected)) wrong.push(`round ${round}: ${printed(got)} instead of ${printed(expected)}`)
      } catch (error) {
        if ((error as { code?: number }).code !== 410) throw error
        outcomes.expired += 1
      }
    }
    expect(wrong).toEqual([])
    expect({ isSomeWhole: outcomes.whole > 0, isSomeExpired: outcomes.expired > 0 }).toEqual({ isSomeWhole: true, isSomeExpired: true })
  }, 180_000)

  for (const [between, links] of [
    ['storage and etcd', (name: string) => name.endsWith('>etcd')],
    ['gateway and storage', (name: string) => name.startsWith('gateway-') && name.includes('>storage-')],
  ] as const) {
    test(`a commit whose answer is lost between ${between} happened once, and the client learns its outcome`, async () => {
      await make(1)
      const those = await watchers()
      const harmed = [...set.links].filter(([name]) => links(name)).map(([, link]) => link)
      const codes: number[] = []
      for (let round = 0; round < 4; round += 1) {
        const name = `answerless-${round}`
        // The objects that this request reads first are not in the cache, because the process requested them before.
        for (const link of harmed) link.mute('callee')
        const created = codeOf(maps(set.clients[round % 2]).create(aMap(name)))
        await Promise.race([until(async () => (await revisionInEtcd(set.etcd.address, `${keysOfRun}${name}`)) > 0), created])
        for (const link of harmed) {
          link.hear()
          link.cut()
        }
        codes.push(await created)
        await until(async () => (await codeOf(maps(set.clients[(round + 1) % 2]).list({ namespace }))) === 200)
      }
      await until(async () => (await codeOf(maps().create(aMap(`after-${++names}`)))) === 200)
      await seenByAll(those)
      const { changes } = await readEtcdLog(set.etcd.address, keysOfRun)
      const written = [0, 1, 2, 3].map((round) => changes.filter(({ key }) => key === `answerless-${round}`).length)
      process.stdout.write(`answers lost between ${between}: ${codes.join(' ')}\n`)
      expect(codes.map((code, round) => (code === 200 ? written[round] === 1 : code === 504 || written[round] === 0))).toEqual(
        codes.map(() => true),
      )
      expect(codes.filter((code) => code === 200).length).toBeGreaterThan(0)
      expect(those.map(({ observation, failure }) => failure ?? findFault(changes, observation))).toEqual(those.map(() => undefined))
    }, 180_000)
  }
})

describe.skipIf(missing.length > 0)(`an etcd and a NATS with passwords ${missing.join('; ')}`, () => {
  test('CARD-18, AUDIT-08: are used by services with the passwords, also after a restart, and the passwords are never printed', async () => {
    const passwords = { username: 'storage', password: 'a word: with "signs" mark-6c11' }
    const loud = ['--log-level=trace']
    const set = await openServiceSet({
      etcdPath: etcd.kind === 'found' ? etcd.path : '',
      natsPath: nats.kind === 'found' ? nats.path : '',
      counts: { gateway: 1, storage: 1, watch: 1, controllers: 0 },
      passwords,
      flags: { gateway: loud, storage: loud, watch: loud, admission: loud },
    })
    onTestFinished(() => set.close())
    const client = set.clients[0] as Client
    await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } })
    const watcher = await openWatcher({ clients: [client], app: undefined, acknowledged: () => 0 })
    const isPublished = async () => /^watch_feed_mode\{source="published"[^}]*\} 1$/m.test((await set.of('watch')[0]?.metrics()) ?? '')
    const create = (name: string) =>
      client
        .resource<ChaosObject>(configMaps)
        .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { text: name } })
    const seen = (name: string) => watcher.observation.steps.some((step) => step.kind === 'event' && step.key === name)
    await until(isPublished)
    for (const round of ['first', 'second']) {
      await until(() =>
        create(round).then(
          () => true,
          ({ code }) => code === 409,
        ),
      )
      await until(() => seen(round))
      for (const program of [set.etcd, set.nats]) {
        await program.kill()
        await program.start()
      }
      await until(isPublished)
    }
    await watcher.stop()
    expect({ failure: watcher.failure, resumed: watcher.resumed, events: watcher.events }).toEqual({
      failure: undefined,
      resumed: 0,
      events: 2,
    })
    const logs = (['gateway', 'storage', 'watch', 'admission'] as const).flatMap((service) => set.of(service).map((one) => one.log()))
    expect(logs.every((log) => log.includes(' debug '))).toBe(true)
    const basic = Buffer.from(`${passwords.username}:${passwords.password}`).toString('base64')
    for (const mark of ['mark-6c11', basic])
      expect({ mark, isWritten: logs.some((log) => log.includes(mark)) }).toMatchObject({ isWritten: false })
  }, 120_000)
})
