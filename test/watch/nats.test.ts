import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChangesPart, objectKey } from '@orch/core/contracts'
import { createMetrics, silentLog, systemClock } from '@orch/platform'
import { type ChangeStream, createJetStream, createNats, type NatsOptions, streamName } from '@orch/platform/nats'
import { createTinyStorage, type TinyStorage } from '@orch/testkit'
import { findBackend, openNats, type Program } from '@orch/testkit/backends'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPublisher } from '../../services/storage/src/publisher/index.ts'
import { createChangeSource } from '../../services/watch/src/index.ts'
import { issueAuthority, issueClient, issueServing } from '../../shared/platform/src/tls/issue.ts'

const backend = await findBackend('nats-server')
const reason = backend.kind === 'missing' ? `[skipped: ${backend.reason}]` : ''
const maps = 'core/configmaps'
const environment = { clock: systemClock, log: silentLog, random: Math.random }

async function startNats(more: { memoryBytesMax?: number } = {}): Promise<Program> {
  const dataDir = mkdtempSync(join(tmpdir(), 'nats-test-'))
  const program = await openNats({ path: backend.kind === 'found' ? backend.path : '', dataDir, ...more })
  onTestFinished(async () => {
    await program.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return program
}

function openStream(program: Program, prefix = '/test'): ChangeStream {
  const nats = createNats({ servers: [program.address], name: 'test' })
  const stream = createJetStream({ nats, name: streamName({ profile: 'orch', prefix }) })
  onTestFinished(() => stream.close())
  return stream
}

function publish(storage: TinyStorage, program: Program) {
  const metrics = createMetrics({ process: false })
  const publisher = createPublisher({ ...environment, ...soleLeader, storage, stream: openStream(program), metrics })
  // Like storage, a silent publisher confirms no message.
  const beating = setInterval(() => storage.sendPosition(), 200)
  onTestFinished(() => {
    clearInterval(beating)
    publisher.close()
  })
  return { publisher, metrics }
}
const soleLeader = { leadership: { isLeader: true, onChange: () => () => {} } }

/** A change source and one reader from the beginning. */
function follow(storage: TinyStorage, program: Program) {
  const metrics = createMetrics({ process: false })
  const source = createChangeSource({ ...environment, storage, stream: openStream(program), metrics })
  onTestFinished(() => source.close())
  const seen: number[] = []
  const read = async () => {
    for await (const part of source.changes({ after: 0, epoch: 'e1', resources: [] })) seen.push(...revisionsOf(part))
  }
  void read()
  const isPublished = async () => (await metrics.text()).includes('watch_feed_mode{source="published"} 1')
  return { seen, metrics, published: () => until(isPublished) }
}

interface StreamAnswer {
  readonly error?: unknown
  readonly config?: object
  readonly state?: { readonly bytes: number; readonly first_seq: number }
}

/** An operator's request about the stream, over NATS itself. */
function askOfStream(program: Program): (verb: 'INFO' | 'DELETE') => Promise<StreamAnswer> {
  const nats = createNats({ servers: [program.address], name: 'operator' })
  onTestFinished(() => nats.close())
  const name = streamName({ profile: 'orch', prefix: '/test' })
  return async (verb) => {
    const answer = await (await nats.connection()).request(`$JS.API.STREAM.${verb}.${name}`, '', { timeout: 5_000 })
    return JSON.parse(new TextDecoder().decode(answer.data)) as StreamAnswer
  }
}

function revisionsOf(part: ChangesPart): number[] {
  return part.kind === 'changes' ? part.changes.map(({ revision }) => revision) : []
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe.skipIf(backend.kind === 'missing')(`the change stream on a real NATS ${reason}`, () => {
  test('CARD-17, CARD-18: delivers each change once and in order, through NATS and not from storage', async () => {
    const program = await startNats()
    const storage = createTinyStorage()
    publish(storage, program)
    const readers = [follow(storage, program), follow(storage, program)]
    for (const reader of readers) await reader.published()
    expect(storage.followers).toBe(1)
    for (let index = 0; index < 2_000; index += 1) {
      storage.put({ resource: maps, name: `n${index % 50}`, data: 'x'.repeat(100) })
      if (index % 20 === 0) await nextTurn()
    }
    await until(() => readers.every(({ seen }) => seen.length >= 2_000))
    for (const { seen } of readers) expect(seen).toEqual(upTo(2_000))
    expect(await readers[0]?.metrics.text()).not.toMatch(/gap_fills_total\{reason="gap"/)
  })

  test('CARD-25: loses nothing for readers while NATS is killed and started under load without its data, and readers return to it', async () => {
    const program = await startNats()
    const storage = createTinyStorage()
    publish(storage, program)
    const reader = follow(storage, program)
    await reader.published()
    let written = 0
    const write = async (count: number) => {
      for (let index = 0; index < count; index += 1) {
        storage.put({ resource: maps, name: `n${index % 50}` })
        written += 1
        if (index % 5 === 0) await nextTurn()
      }
    }
    await write(300)
    const killed = program.kill()
    await write(300)
    await killed
    await until(() => reader.seen.length === written)
    const started = program.start()
    await write(300)
    await started
    await reader.published()
    await write(300)
    await until(() => reader.seen.length === written)
    expect(reader.seen).toEqual(upTo(written))
    expect(await reader.metrics.text()).toMatch(/gap_fills_total\{reason="silence"\} [1-9]/)
  })

  test('CARD-18: is created again after it is deleted, and readers miss nothing', async () => {
    const program = await startNats()
    const storage = createTinyStorage()
    publish(storage, program)
    const reader = follow(storage, program)
    await reader.published()
    let written = 0
    const write = async (count: number) => {
      for (; count > 0; count -= 1) {
        written += 1
        storage.put({ resource: maps, name: `n${written % 50}` })
        await nextTurn()
      }
    }
    await write(100)
    const ask = askOfStream(program)
    expect(await ask('DELETE')).toMatchObject({ success: true })
    await write(100)
    await until(() => reader.seen.length === written)
    await until(async () => (await ask('INFO')).error === undefined)
    await reader.published()
    await write(100)
    await until(() => reader.seen.length === written)
    expect(reader.seen).toEqual(upTo(written))
  })

  test('CARD-25: is reported without space in NATS, readers are served from storage, and metrics show it', async () => {
    const program = await startNats({ memoryBytesMax: 1024 * 1024 })
    const storage = createTinyStorage()
    const reader = follow(storage, program)
    const { promise: told, resolve } = Promise.withResolvers<string>()
    const log = { ...silentLog, warn: (fields: { reason?: string }) => resolve(fields.reason ?? '') } as typeof silentLog
    const metrics = createMetrics({ process: false })
    const publisher = createPublisher({ ...environment, ...soleLeader, log, storage, stream: openStream(program), metrics })
    onTestFinished(() => publisher.close())
    for (let index = 0; index < 50; index += 1) storage.put({ resource: maps, name: `n${index}` })
    await until(() => reader.seen.length === 50)
    expect(await told).toContain('insufficient memory resources')
    expect(reader.seen).toEqual(upTo(50))
    expect(await reader.metrics.text()).toContain('watch_feed_mode{source="storage"} 1')
    expect(await metrics.text()).toContain('change_feed_publishing 0')
  })

  test('CARD-18: keeps within its bounds by dropping the oldest messages, and readers miss nothing', async () => {
    const program = await startNats()
    const storage = createTinyStorage()
    const metrics = createMetrics({ process: false })
    const nats = createNats({ servers: [program.address], name: 'test' })
    const name = streamName({ profile: 'orch', prefix: '/test' })
    const stream = createJetStream({ nats, name, bytesMax: 64 * 1024, ageMsMax: 60_000 })
    onTestFinished(() => stream.close())
    const publisher = createPublisher({ ...environment, ...soleLeader, storage, stream, metrics })
    onTestFinished(() => publisher.close())
    const reader = follow(storage, program)
    await reader.published()
    for (let index = 0; index < 500; index += 1) {
      storage.put({ resource: maps, name: `n${index % 50}`, data: 'x'.repeat(1_000) })
      if (index % 5 === 0) await nextTurn()
    }
    await until(() => reader.seen.length === 500)
    expect(reader.seen).toEqual(upTo(500))
    const { config, state } = await askOfStream(program)('INFO')
    expect(config).toMatchObject({
      max_bytes: 64 * 1024,
      max_age: 60_000 * 1e6,
      discard: 'old',
      retention: 'limits',
      duplicate_window: 60_000 * 1e6,
    })
    expect(state?.bytes).toBeLessThanOrEqual(64 * 1024)
    expect(state?.first_seq).toBeGreaterThan(1)
  })

  test('refuses one of two publishers, and readers miss nothing', async () => {
    const program = await startNats()
    const storage = createTinyStorage()
    const publishers = [publish(storage, program), publish(storage, program)]
    const reader = follow(storage, program)
    await reader.published()
    for (let index = 0; index < 500; index += 1) {
      storage.put({ resource: maps, name: `n${index % 50}` })
      if (index % 5 === 0) await nextTurn()
    }
    await until(() => reader.seen.length === 500)
    expect(reader.seen).toEqual(upTo(500))
    const restarts = async () => {
      const texts = await Promise.all(publishers.map(({ metrics }) => metrics.text()))
      return texts.some((text) => /change_feed_publisher_restarts_total [1-9]/.test(text))
    }
    await until(restarts)
  })

  test('refuses a message of a publisher that was replaced meanwhile', async () => {
    const program = await startNats()
    const [paused, other] = [openStream(program), openStream(program)]
    const position = (revision: number) => ({ kind: 'position', epoch: 'e1', revision, last: revision }) as const
    expect(await paused.prepare()).toEqual({ sequence: 0 })
    await paused.publish(position(1), { id: 'e1-1', expectedSequence: 0 })
    expect(await other.prepare()).toEqual({ sequence: 1, id: 'e1-1', message: position(1) })
    await other.publish(position(5), { id: 'e1-5', expectedSequence: 1 })
    await expect(paused.publish(position(2), { id: 'e1-2', expectedSequence: 1, expectedId: 'e1-1' })).rejects.toThrow('wrong last')
    expect(await paused.prepare()).toEqual({ sequence: 2, id: 'e1-5', message: position(5) })
    await expect(paused.publish(position(5), { id: 'e1-5', expectedSequence: 2 })).rejects.toThrow('and not at 3')
  })

  test('never contains Secrets, which readers get in their place from storage', async () => {
    const program = await startNats()
    const storage = createTinyStorage()
    publish(storage, program)
    const reader = follow(storage, program)
    await reader.published()
    const looking = openStream(program)
    await looking.prepare()
    const passed: string[] = []
    const stop = await looking.follow({ onMessage: (message) => void passed.push(JSON.stringify(message)), onEnd: () => {} })
    storage.put({ resource: maps, name: 'a' })
    storage.put({ resource: 'core/secrets', name: 's', data: 'the word' })
    storage.put({ resource: maps, name: 'b' })
    await until(() => reader.seen.length === 3 && passed.some((message) => message.includes(objectKey(maps, undefined, 'b'))))
    stop()
    expect(reader.seen).toEqual([1, 2, 3])
    expect(passed.filter((message) => message.includes('core/secrets'))).toEqual([expect.stringContaining('"kind":"reference"')])
  })

  test('is separate for two control planes on one NATS', async () => {
    const program = await startNats()
    const [one, two] = [openStream(program, '/one'), openStream(program, '/two')]
    await one.prepare()
    await one.publish({ kind: 'position', epoch: 'e1', revision: 7, last: 7 }, { id: 'e1-7', expectedSequence: 0 })
    expect(await two.prepare()).toEqual({ sequence: 0 })
  })
})

describe.skipIf(backend.kind === 'missing')(`the clients of NATS ${reason}`, () => {
  test('need a user and a password', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'nats-test-'))
    const path = backend.kind === 'found' ? backend.path : ''
    const program = await openNats({ path, dataDir, credentials: { username: 'orch', password: 'word' } })
    onTestFinished(async () => {
      await program.stop()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const open = (more: Partial<NatsOptions>) => {
      const nats = createNats({ servers: [program.address], name: 'test', ...more })
      onTestFinished(() => nats.close())
      return nats.connection()
    }
    expect((await open({ user: 'orch', password: 'word' })).isClosed()).toBe(false)
    await expect(open({ user: 'orch', password: 'other' })).rejects.toThrow('Authorization')
    await expect(open({})).rejects.toThrow('Authorization')
  })

  test('verify certificates on both sides', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'nats-test-'))
    const nowMs = Date.now()
    const authority = await issueAuthority({ commonName: 'test', nowMs })
    const server = await issueServing({ authority, commonName: 'nats', names: ['127.0.0.1', 'localhost'], nowMs })
    const client = await issueClient({ authority, commonName: 'storage', organizations: [], nowMs })
    const write = (name: string, text: string) => {
      writeFileSync(join(dataDir, name), text, { mode: 0o600 })
      return join(dataDir, name)
    }
    const caFile = write('ca.crt', authority.certificate)
    const tls = { caFile, certFile: write('server.crt', server.certificate), keyFile: write('server.key', server.key) }
    const program = await openNats({ path: backend.kind === 'found' ? backend.path : '', dataDir, tls })
    onTestFinished(async () => {
      await program.stop()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const open = (given: NatsOptions['tls']) => {
      const nats = createNats({ servers: [program.address], name: 'test', tls: given })
      onTestFinished(() => nats.close())
      return nats.connection()
    }
    const shown = { certFile: write('client.crt', client.certificate), keyFile: write('client.key', client.key) }
    expect((await open({ caFile, ...shown })).isClosed()).toBe(false)
    await expect(open({ caFile })).rejects.toThrow()
    await expect(open(shown)).rejects.toThrow()
  })
})

test.each([
  ['nats.example:4222', undefined, 'TLS is wanted'],
  ['nats.example', undefined, 'must be host:port'],
  ['user:word@127.0.0.1:4222', undefined, 'must be host:port'],
])('a NATS server %s is refused: %s%s', (server, tls, message) => {
  expect(() => createNats({ servers: [server], name: 'test', tls })).toThrow(message)
})

test('stream names differ for any two control planes', () => {
  const names = ['/a.b', '/a_b', '/a/b', 'a=2fb', '/a-b', ''].flatMap((prefix) =>
    (['orch', 'kubernetes'] as const).map((profile) => streamName({ profile, prefix })),
  )
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_=-]+$/)
})
