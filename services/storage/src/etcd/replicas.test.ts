import { generateKeyPairSync } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommitRequest, type Store, type StoreChange, UnknownOutcomeError } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { issueServiceAuthority, issueServiceCertificate } from '@orch/platform'
import { aDelete, aPut, listed, storageSuite, takeChanges, written } from '@orch/testkit'
import { findBackend, openEtcd, type Program } from '@orch/testkit/backends'
import { Etcd3 } from 'etcd3'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createStorage, type Storage, type StorageOptions } from '../service.ts'
import { createEtcdClient } from './client.ts'
import { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'
import { toLayout } from './layout.ts'

const backend = await findBackend('etcd')
const path = backend.kind === 'found' ? backend.path : ''
const reason = backend.kind === 'missing' ? ` [skipped: ${backend.reason}]` : ''
const within = { timeout: 90_000, interval: 20 }

interface Replica {
  readonly store: EtcdStore
  readonly storage: Storage
  close(): Promise<void>
}

/** A port in front of a server that can drop or damage the server's answers. */
async function openProxy(address: string) {
  const [host = '', port = ''] = address.split(':')
  const sockets = new Set<Socket>()
  const state = { isDeaf: false, swallows: 0, damages: 0 }
  const server = createServer((near) => {
    if (state.swallows > 0) {
      state.swallows -= 1
      sockets.add(near)
      return
    }
    const far = connect(Number(port), host)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (data) => far.write(data))
    far.on('data', (data) => {
      if (state.damages > 0) {
        state.damages -= 1
        data[data.length >> 1] = (data[data.length >> 1] ?? 0) ^ 0x10
      }
      if (!state.isDeaf) near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as { port: number }).port,
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    state,
    cut,
    close() {
      cut()
      server.close()
    },
  }
}

describe.skipIf(backend.kind === 'missing')(`replicas of storage on etcd${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-replicas-'))
  const closers: (() => Promise<void>)[] = []
  let etcd: Program
  let client: Etcd3
  let names = 0
  beforeAll(async () => {
    etcd = await openEtcd({ path, dataDir: join(folder, 'shared') })
    client = new Etcd3({ hosts: urlOf(etcd) })
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  afterAll(async () => {
    client.close()
    await etcd.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const urlOf = ({ address }: Program) => `http://${address}`
  const aPrefix = () => `replicas-${names++}`

  async function openReplica(store: Partial<EtcdStoreOptions> = {}, storage: Partial<StorageOptions> = {}): Promise<Replica> {
    const opened = await openEtcdStore({ servers: [urlOf(etcd)], prefix: aPrefix(), profile: 'orch', ...store })
    const service = await createStorage({ store: opened, leadership: opened.leadership, ...storage })
    let closing: Promise<void> | undefined
    const close = () => {
      service.close()
      closing ??= opened.close()
      return closing
    }
    closers.push(close)
    return { store: opened, storage: service, close }
  }

  async function ownEtcd(): Promise<Program> {
    const own = await openEtcd({ path, dataDir: join(folder, `own-${names++}`) })
    closers.push(() => own.kill())
    return own
  }

  const openForSuite =
    (options: Partial<StorageOptions> = {}) =>
    async () => {
      const { store, storage, close } = await openReplica({}, options)
      // The candidacy is a change of etcd between the test's changes.
      await vi.waitFor(() => expect(store.leadership.isLeader).toBe(true), within)
      return { storage, store, close }
    }
  storageSuite('etcd', openForSuite())
  storageSuite('etcd, no history in memory', openForSuite({ historyBytesMax: 0 }))

  test('STORE-01: return acknowledged writes of one replica in the latest read of the other, and send the same chain of changes', async () => {
    const prefix = aPrefix()
    const [one, two] = [await openReplica({ prefix }), await openReplica({ prefix })]
    const heard: StoreChange[][] = [[], []]
    for (const [index, { store }] of [one, two].entries()) store.listen((changes) => heard[index]?.push(...changes))
    const seen: string[] = []
    for (let round = 0; round < 20; round++) {
      const request = aPut({ name: `n-${round}` })
      const revision = await written((round % 2 === 0 ? one : two).storage, request)
      const other = round % 2 === 0 ? two : one
      const { entry } = await other.storage.get({ key: request.key, read: { kind: 'latest' } })
      seen.push(entry?.revision === revision ? 'seen' : 'missed')
      if (round % 5 === 0) await written(other.storage, aDelete(request.key, revision))
    }
    expect(seen).toEqual(Array.from({ length: 20 }, () => 'seen'))
    await vi.waitFor(() => expect(heard[0]?.length).toBe(24), within)
    await vi.waitFor(() => expect(heard[1]?.length).toBe(24), within)
    const told = heard.map((changes) => changes.map(({ revision, previous, key, writeId }) => [revision, previous, key, writeId]))
    expect(told[0]).toEqual(told[1])
    // A later change knows the changes before its predecessor.
    const three = await openReplica({ prefix })
    const late: StoreChange[] = []
    const last = heard[0]?.at(-1)?.revision
    three.store.listen((changes) => late.push(...changes))
    await written(three.storage, aPut({ name: 'late' }))
    expect(late[0]?.previous).toBe(last)
  })

  test('STORE-02: have one leader, and another leader after its end', async () => {
    const prefix = aPrefix()
    const replicas = [await openReplica({ prefix }), await openReplica({ prefix })]
    const leaders = () => replicas.filter(({ store }) => store.leadership.isLeader)
    await vi.waitFor(() => expect(leaders()).toHaveLength(1), within)
    const [first] = leaders()
    await first?.close()
    await vi.waitFor(() => expect(leaders()).toHaveLength(1), within)
    expect(leaders()[0]).not.toBe(first)
  })

  test('lose no acknowledged write when etcd is killed and restarted under load, and continue to write', async () => {
    const own = await ownEtcd()
    const { storage, store } = await openReplica({ servers: [urlOf(own)] })
    const acknowledged: string[] = []
    let isOver = false
    const write = async (worker: number) => {
      for (let round = 0; !isOver; round++) {
        const name = `w-${worker}-${round}`
        try {
          await written(storage, aPut({ name }))
          acknowledged.push(name)
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      }
    }
    const workers = Array.from({ length: 8 }, (_, worker) => write(worker))
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(100), within)
    await own.kill()
    await vi.waitFor(() => expect(store.status().refusing).toMatch(/^etcd: /), within)
    const before = acknowledged.length
    await own.start()
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(before + 100), within)
    isOver = true
    await Promise.all(workers)
    expect(store.status().refusing).toBe('')
    const { names: there } = await listed(storage)
    expect(acknowledged.filter((name) => !there.includes(name))).toEqual([])
  })

  test('CHUNK-05: answer 410 for a page whose revision another replica has compacted', async () => {
    const prefix = aPrefix()
    const [one, two] = [await openReplica({ prefix }), await openReplica({ prefix })]
    for (const name of ['a', 'b', 'c']) await written(one.storage, aPut({ name }))
    const first = await listed(two.storage, { limit: 1 })
    const read = { kind: 'page' as const, revision: first.head.revision, epoch: first.head.epoch }
    await written(one.storage, aPut({ name: 'd' }))
    expect((await listed(two.storage, { read, start: first.head.next ?? '' })).names).toEqual(['b', 'c'])
    await one.storage.compact((await one.storage.status({})).revision)
    await vi.waitFor(async () => expect((await two.storage.status({})).compacted).toBeGreaterThan(first.head.revision), within)
    await expect(listed(two.storage, { read, start: first.head.next ?? '' })).rejects.toMatchObject({ code: 410 })
  })

  test('get another epoch after etcd is restored to an earlier state, and their streams of changes end', async () => {
    const own = await ownEtcd()
    const { storage, store } = await openReplica({ servers: [urlOf(own)] })
    await written(storage, aPut({ name: 'kept' }))
    await own.stop()
    cpSync(own.dataDir, join(folder, 'snapshot'), { recursive: true })
    await own.start()
    await vi.waitFor(() => written(storage, aPut({ name: 'lost' })), within)
    for (let count = 0; count < 5; count++) await written(storage, aPut({ name: `lost-${count}` }))
    const before = store.status()
    const stream = storage.changes({ after: before.revision, epoch: before.epoch, resources: [] })
    const ended = takeChanges(stream, 100)
    await own.kill()
    rmSync(own.dataDir, { recursive: true })
    cpSync(join(folder, 'snapshot'), own.dataDir, { recursive: true })
    await own.start()
    await vi.waitFor(() => expect(store.status().epoch).not.toBe(before.epoch), within)
    expect(await ended).toEqual([expect.stringMatching(/^expired /)])
    expect((await vi.waitFor(() => listed(storage), within)).names).toEqual(['kept'])
    await written(storage, aPut({ name: 'new' }))
    expect((await listed(storage)).names).toEqual(['kept', 'new'])
    await expect(
      listed(storage, { read: { kind: 'page', revision: before.revision, epoch: before.epoch }, start: 'x' }),
    ).rejects.toMatchObject({ code: 410 })
  })

  test('find a commit whose answer was lost by its write id', async () => {
    const proxy = await openProxy(etcd.address)
    closers.push(async () => proxy.close())
    const prefix = aPrefix()
    const { storage, store } = await openReplica({ servers: [proxy.url], prefix })
    const first = await written(storage, aPut({ name: 'a' }))
    const key = aPut({ name: 'a' }).key
    const kinds: string[] = []
    for (const request of [aPut({ name: 'b' }), aPut({ name: 'a', data: 'two' }, { expected: first }), aDelete('', 0)]) {
      await vi.waitFor(() => expect(store.leadership.isLeader).toBe(true), within)
      const now = (await storage.get({ key, read: { kind: 'latest' } })).entry
      const commit = request.value === undefined ? aDelete(key, now?.revision ?? 0) : request
      const before = await lastWriteOf(client, prefix)
      proxy.state.isDeaf = true
      const outcome = storage.commit(commit)
      // The change has arrived when etcd has it; the test holds back the answer and the watch.
      await vi.waitFor(async () => expect(await lastWriteOf(client, prefix)).toBeGreaterThan(before), within)
      proxy.state.isDeaf = false
      proxy.cut()
      kinds.push((await outcome).kind)
      await vi.waitFor(() => expect(store.status().refusing).toBe(''), within)
    }
    expect(kinds).toEqual(['written', 'written', 'written'])
    expect((await vi.waitFor(() => listed(storage), within)).names).toEqual(['b'])
  })

  test.each([
    [
      'has renewed the epoch',
      async ({ store }: Replica, _request: CommitRequest) => {
        await store.renewEpoch()
      },
    ],
    [
      'has written over it and compacted',
      async ({ storage }: Replica, { key }: CommitRequest) => {
        const { entry } = await storage.get({ key, read: { kind: 'latest' } })
        await storage.compact(await written(storage, aPut({ name: 'a', data: 'three' }, { expected: entry?.revision ?? 0 })))
      },
    ],
  ])('never report a commit as refused whose answer was lost while another replica %s', async (_what, meanwhile) => {
    const outcomes: unknown[] = []
    for (let round = 0; round < 6; round++) {
      const proxy = await openProxy(etcd.address)
      closers.push(async () => proxy.close())
      const prefix = aPrefix()
      const one = await openReplica({ servers: [proxy.url], prefix })
      const other = await openReplica({ prefix })
      const request = aPut({ name: 'a', data: 'two' }, { expected: await written(one.storage, aPut({ name: 'a' })) })
      const before = await lastWriteOf(client, prefix)
      proxy.state.isDeaf = true
      const outcome = one.storage.commit(request).then(
        ({ kind }) => kind,
        (error: unknown) => (error instanceof UnknownOutcomeError ? 'written' : error),
      )
      await vi.waitFor(async () => expect(await lastWriteOf(client, prefix)).toBeGreaterThan(before), within)
      await meanwhile(other, request)
      proxy.state.isDeaf = false
      proxy.cut()
      outcomes.push(await outcome)
    }
    expect(outcomes).toEqual(outcomes.map(() => 'written'))
  })

  test('replace a connection to etcd that is never established', async () => {
    const proxies = [await openProxy(etcd.address), await openProxy(etcd.address)]
    for (const proxy of proxies) {
      closers.push(async () => proxy.close())
      proxy.state.swallows = 1
    }
    const { storage } = await openReplica({ servers: proxies.map(({ url }) => url) })
    expect(await written(storage, aPut({ name: 'a' }))).toBeGreaterThan(0)
    expect(proxies.some(({ state }) => state.swallows === 0)).toBe(true)
  })

  test('answer 500 in the words of etcd for an object that is too large, and keep the connection', async () => {
    const { storage } = await openReplica()
    for (const size of [1_600_000, 5_000_000]) {
      const refused = storage.commit(aPut({ name: 'large', data: 'x'.repeat(size) }))
      await expect(refused).rejects.toMatchObject({ code: 500, message: 'etcdserver: request is too large' })
    }
    expect(await written(storage, aPut({ name: 'small' }))).toBeGreaterThan(0)
  })

  test('load a list of more than 4 MB, and read it from the past', async () => {
    const prefix = aPrefix()
    const { storage, store } = await openReplica({ prefix })
    const data = 'x'.repeat(500_000)
    for (let count = 0; count < 20; count++) await written(storage, aPut({ name: `large-${count}`, data }))
    const other = await openReplica({ prefix })
    expect((await listed(other.storage)).names).toHaveLength(20)
    const { revision } = store.status()
    expect((await store.range({ prefix: '', start: '', limit: 0, revision })).records).toHaveLength(20)
  })

  for (const [version, how] of [
    ['3.4.23', 'from etcd, since it does not tell its position reliably'],
    ['3.5.21', 'from memory, once etcd has told its position'],
  ]) {
    test(`RV-02: answer a latest read while others write to etcd ${how}`, async () => {
      const { storage, store } = await openReplica({ etcdVersion: version })
      const request = aPut({ name: 'a' })
      await written(storage, request)
      // The candidacy is also a change of etcd.
      await vi.waitFor(() => expect(store.leadership.isLeader).toBe(true), within)
      const { header } = await client.put('somebody-else').value('x')
      const foreign = Number(header.revision)
      const read = await storage.get({ key: request.key, read: { kind: 'latest' } })
      expect({ isFresh: read.revision >= foreign, hasEntry: read.entry !== undefined }).toEqual({ isFresh: true, hasEntry: true })
      expect(store.status().revision >= foreign).toBe(version === '3.5.21')
      const list = await listed(storage)
      expect({ isFresh: list.head.revision >= foreign, names: list.names }).toEqual({ isFresh: true, names: ['a'] })
      const notOlder = await listed(storage, { read: { kind: 'notOlderThan', revision: foreign, asked: String(foreign) } })
      expect(notOlder.names).toEqual(['a'])
    })
  }

  test('compare memory with an old etcd that loses changes at a compaction, and deliver missed changes as new', async () => {
    const prefix = aPrefix()
    const writer = await openReplica({ prefix })
    const kept = await written(writer.storage, aPut({ name: 'deleted' }))
    const store = await openEtcdStore({ servers: [urlOf(etcd)], prefix, profile: 'orch', etcdVersion: '3.4.23' })
    const lossy = dropping(store, (change) => /missed|deleted/.test(change.key))
    const errors: string[] = []
    const storage = await createStorage({ store: lossy.store, onError: (error) => errors.push(String(error)) })
    closers.push(async () => {
      storage.close()
      await store.close()
    })
    await written(writer.storage, aPut({ name: 'missed' }))
    await written(writer.storage, aDelete(aPut({ name: 'deleted' }).key, kept))
    await vi.waitFor(async () => expect((await listed(writer.storage)).names).toEqual(['missed']), within)
    // The changes have arrived, and the store has dropped them.
    const { revision } = await writer.storage.status({})
    await vi.waitFor(() => expect(store.status().revision).toBeGreaterThanOrEqual(revision), within)
    expect((await listed(storage, { read: { kind: 'any' } })).names).toEqual(['deleted'])
    lossy.stop()
    await writer.storage.compact((await writer.storage.status({})).revision)
    await vi.waitFor(async () => expect((await listed(storage, { read: { kind: 'any' } })).names).toEqual(['missed']), within)
    await vi.waitFor(() => expect(errors).toEqual(['Error: 2 changes were not delivered']), within)
    expect((await listed(writer.storage)).names).toEqual(['missed'])
  })

  test('refuse another profile with both names, and open another store for another prefix in the same etcd', async () => {
    const prefix = aPrefix()
    const { storage } = await openReplica({ prefix })
    await written(storage, aPut({ name: 'a' }))
    const wrong = openEtcdStore({ servers: [urlOf(etcd)], prefix, profile: 'kubernetes' })
    await expect(wrong).rejects.toThrow(/'orch'.*'kubernetes'/)
    const other = await openReplica({ prefix: aPrefix(), profile: 'kubernetes' })
    expect((await listed(other.storage)).names).toEqual([])
  })

  /** Hashes of passwords cost a tenth of a second each by default. */
  const cheapHashes = '--bcrypt-cost=4'

  async function enableAuth(own: Program): Promise<Etcd3> {
    const admin = new Etcd3({ hosts: urlOf(own) })
    await admin.user('root').create('right')
    await admin.auth.userGrantRole({ user: 'root', role: 'root' }).catch(async () => {
      await admin.role('root').create()
      await admin.auth.userGrantRole({ user: 'root', role: 'root' })
    })
    await admin.auth.authEnable()
    admin.close()
    return new Etcd3({ hosts: urlOf(own), auth: credentials })
  }
  const credentials = { username: 'root', password: 'right' }

  let guarded: Promise<Program> | undefined
  afterAll(async () => (await guarded)?.kill())

  /** An etcd that the tests of passwords share. */
  function guardedEtcd(): Promise<Program> {
    guarded ??= openEtcd({ path, dataDir: join(folder, 'guarded'), flags: [cheapHashes] }).then(async (opened) => {
      const admin = await enableAuth(opened)
      admin.close()
      return opened
    })
    return guarded
  }

  test('report a wrong password', async () => {
    const own = await guardedEtcd()
    const open = (password: string) => openReplica({ servers: [urlOf(own)], credentials: { username: 'root', password } })
    await expect(open('wrong')).rejects.toThrow(/authentication failed/)
    const { storage } = await open('right')
    expect(await written(storage, aPut({ name: 'a' }))).toBeGreaterThan(0)
  })

  test('answer writes with 503 and a reason while etcd refuses the password, and continue when it is correct again', async () => {
    const own = await guardedEtcd()
    const admin = new Etcd3({ hosts: urlOf(own), auth: credentials })
    const { storage } = await openReplica({ servers: [urlOf(own)], credentials })
    await written(storage, aPut({ name: 'a' }))
    await admin.auth.userChangePassword({ name: 'root', password: 'other' })
    // On a busy machine the first call may time out before etcd has answered.
    await vi.waitFor(
      () =>
        expect(storage.commit(aPut({ name: 'b' }))).rejects.toMatchObject({
          code: 503,
          message: expect.stringContaining('authentication failed'),
        }),
      within,
    )
    const other = new Etcd3({ hosts: urlOf(own), auth: { username: 'root', password: 'other' } })
    await other.auth.userChangePassword({ name: 'root', password: 'right' })
    other.close()
    admin.close()
    await vi.waitFor(() => written(storage, aPut({ name: 'c' })), within)
    expect((await vi.waitFor(() => listed(storage), within)).names).toEqual(['a', 'c'])
  })

  test('request a new token after a restart of etcd, which drops its tokens', async () => {
    const own = await guardedEtcd()
    const { storage, store } = await openReplica({ servers: [urlOf(own)], credentials })
    await written(storage, aPut({ name: 'a' }))
    await own.kill()
    await own.start()
    await vi.waitFor(() => written(storage, aPut({ name: 'b' })), within)
    expect((await listed(storage)).names).toEqual(['a', 'b'])
    expect(store.status().refusing).toBe('')
  })

  test('request a new token after a change of users, which outdates signed tokens', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const [publicFile, privateFile] = [join(folder, 'token.pub'), join(folder, 'token.key')]
    writeFileSync(publicFile, publicKey.export({ type: 'spki', format: 'pem' }))
    writeFileSync(privateFile, privateKey.export({ type: 'sec1', format: 'pem' }))
    const flags = [`--auth-token=jwt,pub-key=${publicFile},priv-key=${privateFile},sign-method=ES256,ttl=10m`, cheapHashes]
    const own = await openEtcd({ path, dataDir: join(folder, 'signed'), flags })
    closers.push(() => own.kill())
    const admin = await enableAuth(own)
    const { storage } = await openReplica({ servers: [urlOf(own)], credentials })
    await written(storage, aPut({ name: 'a' }))
    await admin.user('somebody').create('else')
    admin.close()
    await written(storage, aPut({ name: 'b' }))
    expect((await listed(storage)).names).toEqual(['a', 'b'])
  })

  test('CARD-25: report that they are not ready without answers of etcd, and are ready soon after an answer', async () => {
    const proxy = await openProxy(etcd.address)
    closers.push(async () => proxy.close())
    const { store, storage } = await openReplica({ servers: [proxy.url] })
    await written(storage, aPut({ name: 'a' }))
    const told: boolean[] = []
    store.shared.onReachable((isReachable) => told.push(isReachable))
    proxy.state.isDeaf = true
    await vi.waitFor(() => expect(told).toEqual([false]), within)
    expect((await storage.status({})).refusing).toMatch(/^etcd: /)
    // The client replaces connections that have lost bytes.
    proxy.state.isDeaf = false
    await vi.waitFor(() => expect(told.at(-1)).toBe(true), within)
    expect((await storage.status({})).refusing).toBe('')
    expect(await written(storage, aPut({ name: 'b' }))).toBeGreaterThan(0)
  })

  test('CARD-25: write again after damaged TLS records between storage and etcd', async () => {
    const { tls, access } = await certified('damaged')
    const own = await openEtcd({ path, dataDir: join(folder, 'damaged'), tls })
    closers.push(() => own.kill())
    const proxy = await openProxy(own.address)
    closers.push(async () => proxy.close())
    const { storage } = await openReplica({ servers: [`https://127.0.0.1:${proxy.port}`], tls: access })
    for (let round = 1; round <= 3; round++) {
      proxy.state.damages = 2 * round
      await vi.waitFor(async () => expect(await written(storage, aPut({ name: `a-${round}-${names++}` }))).toBeGreaterThan(0), within)
      await vi.waitFor(() => expect(proxy.state.damages).toBe(0), within)
    }
    await vi.waitFor(async () => expect((await storage.status({})).refusing).toBe(''), within)
    expect(await written(storage, aPut({ name: 'last' }))).toBeGreaterThan(0)
  })

  /** Certificates of a new authority: as files for a server, and as texts for storage. */
  async function certified(name: string) {
    const product = namesOf('orch')
    const nowMs = Date.now()
    const authority = await issueServiceAuthority({ names: product, nowMs })
    const hostNames = ['127.0.0.1', 'localhost']
    const pair = await issueServiceCertificate({ authority, names: product, role: 'storage', hostNames, nowMs })
    const file = (ending: string, content: string) => {
      const at = join(folder, `${name}${ending}`)
      writeFileSync(at, content)
      return at
    }
    return {
      tls: {
        caFile: file('-ca.crt', authority.certificate),
        certFile: file('.crt', pair.certificate),
        keyFile: file('.key', pair.key),
      },
      access: { ca: Buffer.from(authority.certificate), certificate: Buffer.from(pair.certificate), key: Buffer.from(pair.key) },
      product,
      nowMs,
    }
  }

  test('connect over TLS with a password, to an address of etcd', async () => {
    const { tls, access } = await certified('tls-password')
    const own = await openEtcd({ path, dataDir: join(folder, 'tls-password'), tls, flags: [cheapHashes] })
    closers.push(() => own.kill())
    const servers = [`https://${own.address}`]
    const admin = createEtcdClient({ servers, tls: access })
    await admin.user('root').create('right')
    await admin.role('root').create()
    await admin.auth.userGrantRole({ user: 'root', role: 'root' })
    await admin.auth.authEnable()
    admin.close()
    const { storage } = await openReplica({ servers, tls: access, credentials })
    expect(await written(storage, aPut({ name: 'a' }))).toBeGreaterThan(0)
  })

  test('connect over TLS with a client certificate, and do not open without one or with another authority', async () => {
    const { tls, access, product, nowMs } = await certified('tls')
    const other = await issueServiceAuthority({ names: product, nowMs })
    const own = await openEtcd({ path, dataDir: join(folder, 'tls'), tls })
    closers.push(() => own.kill())
    const { ca, certificate, key } = access
    const servers = [`https://${own.address}`]
    const { storage } = await openReplica({ servers, tls: access })
    expect(await written(storage, aPut({ name: 'a' }))).toBeGreaterThan(0)
    const impatient = { servers, startWaitMs: 0 }
    await expect(openReplica({ ...impatient, tls: { ca } })).rejects.toMatchObject({ code: 503 })
    await expect(openReplica({ ...impatient, tls: { ca: Buffer.from(other.certificate), certificate, key } })).rejects.toMatchObject({
      code: 503,
    })
  })

  test('refuse a server without encryption on another machine', async () => {
    await expect(openEtcdStore({ servers: ['http://192.0.2.1:2379'], prefix: 'x', profile: 'orch' })).rejects.toThrow(
      '--insecure-transport',
    )
    await expect(openEtcdStore({ servers: ['etcd:2379'], prefix: 'x', profile: 'orch' })).rejects.toThrow("not 'etcd:2379'")
  })
})

/** The revision of the last write to a key of a store. Writes of the election or of another store do not count. */
async function lastWriteOf(client: Etcd3, prefix: string): Promise<number> {
  const { keys, deletion } = toLayout(prefix)
  const answers = await Promise.all([keys, deletion].map((start) => client.getAll().prefix(start).exec()))
  return Math.max(0, ...answers.flatMap(({ kvs }) => kvs.map(({ mod_revision }) => Number(mod_revision))))
}

/** A store whose listeners miss some changes. */
function dropping(store: EtcdStore, isLost: (change: StoreChange) => boolean): { store: Store; stop: () => void } {
  let isLosing = true
  const listen: Store['listen'] = (listener) =>
    store.listen((changes) => listener(isLosing ? changes.filter((change) => !isLost(change)) : changes))
  const lossy = new Proxy(store, {
    get: (target, name) => {
      if (name === 'listen') return listen
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    store: lossy,
    stop: () => {
      isLosing = false
    },
  }
}
