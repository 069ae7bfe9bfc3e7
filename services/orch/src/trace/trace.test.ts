import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runCommand } from '../command-line.ts'
import { loseReply, type RunningServer, start, virtualClock } from '../index.ts'
import { readTrace } from '../start/trace-file.ts'
import { createForkHook } from '../testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'trace-'))
let server: RunningServer

beforeAll(async () => {
  server = await start({ profile: 'kubernetes' })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const named = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'default' } })

/** The history of a failing test. */
async function happenings({ client, faults, user }: RunningServer): Promise<void> {
  const operator = user('operator')
  const made = await operator.client.objects.create({ ...named('ConfigMap', 'a'), data: { x: '1' } })
  await operator.client.objects.update({ ...made, data: { x: '2' } })
  await client.objects.create({ ...named('Secret', 'password'), stringData: { password: 'topsecret' } })
  faults.add({ name: 'lost', on: { user: 'nobody' }, effect: loseReply() })
}

describe('a trace of a server', () => {
  test('has its objects, changes, requests and faults, and the error of the test', async () => {
    await using fork = await server.fork()
    await happenings(fork)
    const path = join(folder, 'deep', 'one.trace.gz')
    await fork.saveTrace(path, { test: 'a test', failure: new Error('expected 1') })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { head, changes, requests, faults, objects, left } = await readTrace(path)
    expect(head).toMatchObject({
      kind: 'Trace',
      format: 1,
      profile: 'kubernetes',
      test: 'a test',
      failure: expect.stringContaining('expected 1'),
    })
    const own = changes.filter(({ kind, name }) => kind === 'ConfigMap' && name === 'a')
    expect(own.map(({ event, user, changed }) => [event, user, changed])).toEqual([
      ['created', 'operator', []],
      ['modified', 'operator', ['data.x']],
    ])
    expect(own[1]).toMatchObject({ before: { data: { x: '1' } }, after: { data: { x: '2' } } })
    expect(requests.filter(({ user, changed }) => user === 'operator' && changed)).toHaveLength(2)
    expect(faults).toMatchObject([{ name: 'lost', hits: 0, on: { user: 'nobody' } }])
    expect(objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'a')).toMatchObject({ data: { x: '2' } })
    expect(left).toEqual({ changes: 0, objects: 0 })
  })

  test('omits the values of Secrets, unless they are requested', async () => {
    await using fork = await server.fork()
    await happenings(fork)
    const [without, withValues] = [join(folder, 'without.gz'), join(folder, 'with.gz')]
    await fork.saveTrace(without)
    await fork.saveTrace(withValues, { secrets: true })
    const value = Buffer.from('topsecret').toString('base64')
    const textOf = (path: string) => gunzipSync(readFileSync(path)).toString()
    expect(textOf(without)).not.toContain(value)
    expect(textOf(without)).toContain('"password":"redacted"')
    expect(textOf(withValues)).toContain(value)
  })

  test('is printed by orch trace show, which refuses another file with a sentence', async () => {
    await using fork = await server.fork()
    await happenings(fork)
    const path = join(folder, 'shown.trace.gz')
    await fork.saveTrace(path, { test: 'a test', failure: 'expected 1' })
    const run = async (...words: string[]) => {
      const [out, error]: [string[], string[]] = [[], []]
      const code = await runCommand({
        arguments: ['trace', ...words],
        env: {},
        workingFolder: folder,
        out: (text) => void out.push(text),
        error: (text) => void error.push(text),
        statusLine: undefined,
      })
      return { code, out: out.join(''), error: error.join('') }
    }
    const { code, out } = await run('show', 'shown.trace.gz')
    expect(code).toBe(0)
    expect(out).toMatch(/^a test\n {2}at .*, profile kubernetes\n\n {2}expected 1\n\nfaults\n {2}lost: /)
    expect(out).toMatch(/@\d+ \S+ modified ConfigMap default\/a by operator.*: data\.x\n/)
    expect(out).toMatch(/objects: .*1 Secret/)
    expect(out).toMatch(/changes \(\d\), without \d+ by the server itself\n {2}@/)
    expect((await run('show', 'shown.trace.gz', '--all')).out).toContain(' created Namespace default by system:apiserver')
    writeFileSync(join(folder, 'other.gz'), gzipSync('nothing'))
    writeFileSync(join(folder, 'newer.gz'), gzipSync('{"kind":"Trace","format":9}\n'))
    const whole = gunzipSync(readFileSync(path)).toString()
    writeFileSync(join(folder, 'cut.gz'), gzipSync(whole.slice(0, whole.lastIndexOf('{"kind":"End"'))))
    expect(await run('show', 'other.gz')).toMatchObject({
      code: 1,
      error: expect.stringContaining('other.gz: is no trace: expected a file'),
    })
    expect(await run('show', 'newer.gz')).toMatchObject({
      code: 1,
      error: expect.stringContaining('has format 9; this version reads format 1'),
    })
    expect(await run('show', 'cut.gz')).toMatchObject({ code: 1, error: expect.stringContaining('is cut off: its last line is missing') })
    expect(await run('show', 'absent.gz')).toMatchObject({ code: 1, error: expect.stringContaining('absent.gz: cannot be read (ENOENT)') })
    expect(await run('show')).toMatchObject({ code: 2, error: expect.stringContaining('Usage: orch trace show FILE') })
    expect(await run('--help')).toMatchObject({ code: 0, out: expect.stringContaining('Usage: orch trace show FILE') })
  })
})

test('a failed test of a fixture writes a trace if ORCH_TRACE names a folder, and a passed test writes none', async () => {
  const traces = join(folder, 'left')
  vi.stubEnv('ORCH_TRACE', traces)
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    said.mockRestore()
  })
  const hooks: (() => Promise<void>)[] = []
  const register = (hook: () => Promise<void>) => void hooks.push(hook)
  const inFork = createForkHook({ beforeAll: register, afterAll: register, testName: (name) => String(name) })({ profile: 'kubernetes' })
  await hooks[0]?.()
  await inFork(() => {})('passes')
  const failing = inFork(async (own) => {
    await happenings(own)
    throw new Error('not as expected')
  })
  await expect(failing('a widget / is reconciled')).rejects.toThrow('not as expected')
  await hooks[1]?.()
  const [file = '', ...others] = readdirSync(traces)
  expect(others).toEqual([])
  expect(file).toMatch(/^a-widget-is-reconciled-[\da-f]{8}\.trace\.gz$/)
  expect((await readTrace(join(traces, file))).head).toMatchObject({
    test: 'a widget / is reconciled',
    failure: expect.stringContaining('not as expected'),
  })
  expect(said).toHaveBeenCalledWith(expect.stringContaining('orch trace show prints it'))
})

test('the base of a fixture that starts after its framework has given up is stopped', async () => {
  const hooks: (() => Promise<void>)[] = []
  const register = (hook: () => Promise<void>) => void hooks.push(hook)
  const inFork = createForkHook({ beforeAll: register, afterAll: register, testName: () => undefined })({ profile: 'kubernetes' })
  await Promise.all(hooks.map((hook) => hook()))
  await expect(inFork(() => {})()).rejects.toThrow('the base runs in tests alone')
})

test('a base that cannot start fails the hook of its fixture', async () => {
  const hooks: (() => Promise<void>)[] = []
  const register = (hook: () => Promise<void>) => void hooks.push(hook)
  createForkHook({ beforeAll: register, afterAll: register, testName: () => undefined })({ order: 'seeded' })
  await expect(hooks[0]?.()).rejects.toThrow("order: 'seeded' needs seed")
})

test('settled() waits for tracked work, and with quiet until no work has begun for that time', async () => {
  const clock = virtualClock()
  await using own = await start({ profile: 'kubernetes', clock })
  const order: string[] = []
  let finish = () => {}
  const work = own.track(
    new Promise<string>((resolve) => {
      finish = () => resolve('result')
    }),
    'my controller',
  )
  await expect(own.settled({ within: 50 })).rejects.toThrow(/^the server has not settled within 50 ms: .*my controller/)
  const settled = own.settled({ within: 60_000 }).then(() => void order.push('settled'))
  order.push('finished')
  finish()
  expect(await work).toBe('result')
  await settled
  expect(order).toEqual(['finished', 'settled'])
  const before = clock.now()
  await own.settled({ within: 60_000, quiet: '50ms' })
  expect(clock.now() - before).toBeGreaterThanOrEqual(50)
  await expect(own.settled({ quiet: 'soon' })).rejects.toThrow('settled(): soon is not a duration')
})
