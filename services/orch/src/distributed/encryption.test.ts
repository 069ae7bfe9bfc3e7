import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StorageService } from '@orch/core/contracts'
import { type Clock, silentLog, systemChance, systemClock } from '@orch/platform'
import { openEtcdStore } from '@orch/storage/etcd'
import { aPut, shown } from '@orch/testkit'
import { findBackend, openEtcd, openNats, type Program } from '@orch/testkit/backends'
import { aFolder } from '@orch/testkit/folder'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { everythingServed } from '../api/settings.ts'
import { catalogueOf } from '../surroundings.ts'
import { type Assembly, dialStorage, type Replica } from './replica.ts'
import { openStorageReplica } from './storage.ts'

const found = await Promise.all([findBackend('etcd'), findBackend('nats-server')])
const [etcdPath = '', natsPath = ''] = found.map((backend) => (backend.kind === 'found' ? backend.path : ''))
const missing = found.find(({ kind }) => kind === 'missing')
const reason = missing?.kind === 'missing' ? ` [skipped: ${missing.reason}]` : ''

/** Reloads a changed file soon. */
const clock: Clock = { ...systemClock, every: (intervalMs, callback) => systemClock.every(Math.min(intervalMs, 20), callback) }
const world = { clock, chance: systemChance, log: silentLog, catalogue: catalogueOf(everythingServed('orch')) }

/** An EncryptionConfiguration for Secrets with these keys, the first of which writes. */
function configuration(keys: readonly string[]): string {
  const named = keys.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') }))
  const resources = [{ resources: ['secrets'], providers: [{ aesgcm: { keys: named } }] }]
  return JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'EncryptionConfiguration', resources })
}

/** Collects all messages that a NATS server publishes from now on. */
async function overheard(address: string): Promise<() => Buffer> {
  const [host = '', port] = address.split(':')
  const socket = connect(Number(port), host)
  onTestFinished(() => void socket.destroy())
  const chunks: Buffer[] = []
  const isSubscribed = Promise.withResolvers<void>()
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    if (chunk.includes('PONG')) isSubscribed.resolve()
  })
  socket.write('CONNECT {"verbose":false,"headers":true}\r\nSUB > 1\r\nPING\r\n')
  await isSubscribed.promise
  return () => Buffer.concat(chunks)
}

/** Searches a text in all files of a folder. */
function searcherOf(folder: string): (text: string) => boolean {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  const files = paths.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path))
  return (text) => files.some((bytes) => bytes.includes(text))
}

let etcd: Program
let nats: Program
let tests = 0

/** Two storages on the etcd and the NATS of this file, each with a reloaded configuration file. Each test has a prefix. */
async function openTwo(keys: readonly string[]) {
  const prefix = `/t${tests++}`
  const published = await overheard(nats.address)
  const file = join(aFolder(), 'encryption.json')
  writeFileSync(file, configuration(keys))
  const lifecycles: { stop(): void | Promise<void> }[] = []
  onTestFinished(async () => {
    for (const part of lifecycles.reverse()) await part.stop()
  })
  const open = async (encryption = file): Promise<Replica> => {
    const store = await openEtcdStore({ ...world, servers: [`http://${etcd.address}`], prefix, profile: 'orch' })
    const opened = await openStorageReplica(
      {
        ...{ trust: { tls: undefined, insecureTransport: false }, hasProcessMetrics: false, listen: '127.0.0.1:0', store },
        ...{ changeStream: { servers: [nats.address], profile: 'orch', prefix }, watchHistoryMs: 60_000 },
        encryption: { file: encryption, reloads: true },
      },
      world,
    )
    lifecycles.push(opened)
    return opened
  }
  const dial = async ({ address, metrics }: Replica): Promise<StorageService> => {
    const rpc = { ...{ tls: undefined, insecureTransport: false, metrics, tracer: undefined, random: systemChance.fraction }, ...world }
    const lifecycle = { onStop: (_: string, stop: () => void | Promise<void>) => void lifecycles.push({ stop }) }
    const storage = dialStorage([address], { ...world, lifecycle, rpc } as unknown as Assembly)
    await storage.met
    return storage.service
  }
  const replicas = [await open(), await open()]
  const storages = [await dial(replicas[0]!), await dial(replicas[1]!)] as const
  /** Changes the keys of both storages, and waits until both use the new keys. */
  let reloads = 0
  const rotate = async (...names: readonly string[]) => {
    reloads += 1
    writeFileSync(file, configuration(names))
    const line = new RegExp(`automatic_reloads_total\\{\\S+,status="success"\\} ${reloads}\n`)
    for (const { metrics } of replicas) await expect.poll(() => metrics.text()).toMatch(line)
  }
  const raw = await openEtcdStore({ ...world, servers: [`http://${etcd.address}`], prefix, profile: 'orch' })
  lifecycles.push({ stop: () => raw.close() })
  /** Identifies the keys that encrypt the stored Secrets. */
  const keysInUse = async () => {
    const names = new Set<string>()
    await raw.visit(({ key, value }) => {
      if (key.startsWith('core/secrets/')) names.add(/k8s:enc:aesgcm:v1:(\w+):/.exec(Buffer.from(value).toString('latin1'))?.[1] ?? 'none')
    })
    return [...names].toSorted()
  }
  return { storages, rotate, keysInUse, open, published }
}

const plain = 'plain-text-number-'
const encode = (text: string) => Buffer.from(text).toString('base64')
/** The searched forms of the text: plain as in a label, and encoded as in data. */
const plainForms = [plain, encode(plain)]
const dataOf = (text: number | string) => encode(`${plain}${text}`)
const secret = (number: number, expected: number, data = dataOf(number)) =>
  aPut({ resource: 'core/secrets', kind: 'Secret', name: `s${number}`, data, labels: { of: `${plain}${number}` } }, { expected })

/** Load on two storages, with all answers checked. */
class Load {
  readonly faults: string[] = []
  writes = 0
  reads = 0
  readonly #revisions: number[]
  readonly #storages: readonly StorageService[]
  #isOver = false

  constructor(storages: readonly StorageService[], revisions: readonly number[]) {
    this.#storages = storages
    this.#revisions = [...revisions]
  }

  /** Writes each of these objects in turn through one storage, and reads it through the other. */
  async run(numbers: readonly number[]): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) {
      for (const number of numbers) {
        const [writer, reader] = round % 2 === 0 ? this.#storages : [...this.#storages].reverse()
        const outcome = await writer!.commit(secret(number, this.#revisions[number]!, dataOf(`${number}-${round}`)))
        this.writes += 1
        if (outcome.kind !== 'written') this.faults.push(`the write of s${number} is ${outcome.kind}`)
        else this.#revisions[number] = outcome.revision
        const { entry } = await reader!.get({ key: `core/secrets/default/s${number}`, read: { kind: 'latest' } })
        this.reads += 1
        if (entry === undefined || shown(entry.value).data.text !== dataOf(`${number}-${round}`))
          this.faults.push(`s${number} is another one`)
      }
    }
  }

  end(): void {
    this.#isOver = true
  }
}

describe.skipIf(reason !== '')(`encryption of storages on etcd${reason}`, () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'encryption-'))
  beforeAll(async () => {
    etcd = await openEtcd({ path: etcdPath, dataDir })
    nats = await openNats({ path: natsPath })
  })
  afterAll(async () => {
    await nats.stop()
    await etcd.stop()
    for (const folder of [dataDir, nats.dataDir]) rmSync(folder, { recursive: true, force: true })
  })

  test('ENC-12, ENC-14: no plain text of 200 Secrets is in the files of etcd nor in NATS’ messages', async () => {
    const { storages, published } = await openTwo(['first'])
    // A storage has one second for each answer, which limits the parallel requests on a slow disk.
    for (let first = 0; first < 200; first += 20) {
      const writes = Array.from({ length: 20 }, (_, place) => storages[place % 2]!.commit(secret(first + place, 0)))
      expect((await Promise.all(writes)).filter(({ kind }) => kind !== 'written')).toEqual([])
    }
    const configMap = aPut({ name: 'seen', data: 'in-plain-view' })
    expect((await storages[0].commit(configMap)).kind).toBe('written')
    await expect.poll(() => published().includes('core/secrets/default/s199')).toBe(true)
    await expect.poll(() => published().includes('in-plain-view')).toBe(true)
    const isInFiles = searcherOf(dataDir)
    expect(['core/secrets/default/s199', 'in-plain-view'].map(isInFiles)).toEqual([true, true])
    expect(plainForms.filter((form) => isInFiles(form) || published().includes(form))).toEqual([])
  })

  test('ENC-03, ENC-13: keys are rotated through two storages that are written to and read, and nothing fails', async () => {
    const { storages, rotate, keysInUse } = await openTwo(['first'])
    const revisions: number[] = []
    for (let number = 0; number < 12; number++) {
      const outcome = await storages[0].commit(secret(number, 0))
      if (outcome.kind === 'written') revisions.push(outcome.revision)
    }
    const load = new Load(storages, revisions)
    const numbers = revisions.map((_, number) => number)
    const running = [0, 1, 2, 3].map((rest) => load.run(numbers.filter((number) => number % 4 === rest)))
    const goesOn = async () => {
      const before = load.writes
      await expect.poll(() => load.writes).toBeGreaterThan(before + 2 * numbers.length)
    }
    await goesOn()
    expect(await keysInUse()).toEqual(['first'])
    await rotate('first', 'second')
    await goesOn()
    await rotate('second', 'first')
    await goesOn()
    await expect.poll(keysInUse).toEqual(['second'])
    await rotate('second')
    await goesOn()
    load.end()
    await Promise.all(running)
    expect(load.faults).toEqual([])
    expect(load.reads).toBe(load.writes)
  })

  test('ENC-03: a storage without the key of a stored value does not start, and names it', async () => {
    const { storages, open } = await openTwo(['first'])
    expect((await storages[0].commit(secret(1, 0))).kind).toBe('written')
    const other = join(aFolder(), 'encryption.json')
    writeFileSync(other, configuration(['other']))
    await expect(open(other)).rejects.toThrow(
      '--encryption-provider-config: core/secrets/default/s1 is encrypted with k8s:enc:aesgcm:v1:first:, and no provider of its resource has that key',
    )
  })
})
