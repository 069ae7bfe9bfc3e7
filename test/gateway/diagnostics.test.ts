import { gunzipSync } from 'node:zlib'
import { createCatalogue } from '@orch/core/catalogue'
import { parseYaml } from '@orch/core/yaml'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Profilers } from '../../services/gateway/src/profiles/profilers.ts'
import { cpuToPprof, heapToPprof } from '../../services/gateway/src/profiles/to-pprof.ts'
import { anApi, sharedApi } from '../api/api.ts'
import { aGateway } from './own-gateway.ts'
import { ownVersion } from './plain-gateway.ts'
import { readProfile } from './read-profile.ts'

const server = sharedApi({ profile: 'kubernetes', controllers: [], flags: ['--event-ttl=2h'] })
const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'
const structured = (kind: string, version = 'v1beta1') => `application/json;v=${version};g=config.k8s.io;as=${kind}`

describe('/statusz', () => {
  test('prints the start time, the versions and the paths of the server in lines', async () => {
    const { status, headers, text } = await server.api.get('/statusz')
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    const [first, name, second, blank, started, up, go, binary, emulation, paths] = text.split('\n')
    expect([first, name, second, blank]).toEqual(['', 'apiserver statusz', warning, ''])
    expect(started).toMatch(/^Started: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 1-3]\d \d\d:\d\d:\d\d UTC \d{4}$/)
    expect(up).toMatch(/^Up: \d+ hr \d\d min \d\d sec$/)
    expect([go, binary, emulation]).toEqual([`Go version: node ${process.version}`, 'Binary version: 1.37', 'Emulation version: 1.37'])
    expect(paths).toBe('Paths: /flagz /healthz /livez /metrics /readyz /statusz /version')
  })

  test('prints the uptime and the emulated release', async () => {
    const clock = createFakeClock()
    const version = { ...ownVersion, emulationMajor: '1', emulationMinor: '27' }
    const catalogue = createCatalogue('orch', { isGateOn: () => true })
    const { send } = await aGateway(undefined, { catalogue, clock, version })
    const started = clock.now()
    clock.advance((3_600 * 26 + 61) * 1000)
    const headers = { accept: 'application/json;v=v1alpha1;g=config.orch.io;as=Statusz' }
    const response = await send({ method: 'GET', path: '/statusz', headers })
    let text = ''
    for await (const chunk of response.body) text += Buffer.from(chunk).toString()
    expect(JSON.parse(text)).toMatchObject({
      kind: 'Statusz',
      apiVersion: 'config.orch.io/v1alpha1',
      metadata: { name: 'apiserver' },
      startTime: `${new Date(started).toISOString().slice(0, 19)}Z`,
      uptimeSeconds: 3_600 * 26 + 61,
      binaryVersion: '1.25',
      emulationVersion: '1.27',
    })
    const plain = await send({ method: 'GET', path: '/statusz', headers: {} })
    text = ''
    for await (const chunk of plain.body) text += Buffer.from(chunk).toString()
    expect(text).toContain('\nUp: 26 hr 01 min 01 sec\n')
  })

  test.each([
    ['', 'text/plain; charset=utf-8'],
    ['*/*', 'text/plain; charset=utf-8'],
    ['text/html, text/*;q=0.5', 'text/plain; charset=utf-8'],
    [structured('Statusz'), 'application/json;g=config.k8s.io;v=v1beta1;as=Statusz'],
    [structured('Statusz', 'v1alpha1'), 'application/json;g=config.k8s.io;v=v1alpha1;as=Statusz'],
    [`${structured('Statusz', 'v7')}, text/plain`, 'text/plain; charset=utf-8'],
  ])('answers Accept: %s with %s', async (accept, type) => {
    const { status, headers } = await server.api.get('/statusz', { accept })
    expect([status, headers['content-type']]).toEqual([200, type])
  })

  test('MACH-OPS-03: warns about the older version', async () => {
    const { headers } = await server.api.get('/statusz', { accept: structured('Statusz', 'v1alpha1') })
    expect(headers['warning']).toBe('299 - "This version of the statusz endpoint is deprecated. Please use a newer version."')
    expect((await server.api.get('/statusz', { accept: structured('Statusz') })).headers['warning']).toBeUndefined()
  })

  test('MACH-OPS-03: prints a Statusz in YAML', async () => {
    const { headers, text } = await server.api.get('/statusz', { accept: structured('Statusz').replace('json', 'yaml') })
    expect(headers['content-type']).toBe('application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz')
    const value = { kind: 'Statusz', metadata: { name: 'apiserver' }, emulationVersion: '1.37' }
    expect(parseYaml(text)).toMatchObject({ value })
  })

  test.each(['application/xml', 'application/json', structured('Flagz'), structured('Statusz', 'v7')])(
    'MACH-OPS-03: answers Accept: %s with a 406',
    async (accept) => {
      const { status, body } = await server.api.get('/statusz', { accept })
      const message = 'only the following media types are accepted: application/json, application/yaml, text/plain'
      expect([status, body['reason'], body['message']]).toEqual([406, 'NotAcceptable', message])
    },
  )
})

describe('/flagz', () => {
  test('lists every flag with its value, in order', async () => {
    const { status, headers, text } = await server.api.get('/flagz')
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    const [first, name, second, blank, ...lines] = text.trimEnd().split('\n')
    expect([first, name, second, blank]).toEqual(['', 'apiserver flagz', warning, ''])
    expect(lines).toEqual(expect.arrayContaining(['event-ttl=2h', 'request-timeout=60s', 'emulated-version=']))
    expect(lines).toEqual([...lines].sort((one, other) => (one.split('=')[0]! < other.split('=')[0]! ? -1 : 1)))
  })

  test('prints a Flagz', async () => {
    const { headers, body } = await server.api.get('/flagz', { accept: structured('Flagz') })
    expect(headers['content-type']).toBe('application/json;g=config.k8s.io;v=v1beta1;as=Flagz')
    const flags = { 'event-ttl': '2h', 'request-timeout': '60s' }
    expect(body).toMatchObject({ kind: 'Flagz', apiVersion: 'config.k8s.io/v1beta1', metadata: { name: 'apiserver' }, flags })
  })
})

const pages = ['/statusz', '/flagz', '/debug/pprof/', '/debug/pprof/profile', '/debug/pprof/heap']

test.each(pages)('%s needs the right to read the path', async (path) => {
  const { status } = await server.api.as({})('GET', path)
  expect(status).toBe(403)
})

test('each page can be switched off', async () => {
  const api = await anApi({
    controllers: [],
    featureGates: ['ComponentStatusz=false', 'ComponentFlagz=false'],
    flags: ['--profiling=false'],
  })
  expect(await Promise.all(pages.map(async (path) => (await api.get(path)).status))).toEqual(pages.map(() => 404))
  const { body } = await api.get('/')
  expect((body['paths'] as string[]).filter((path) => pages.some((page) => path.startsWith(page.replace(/\/$/, ''))))).toEqual([])
})

describe('/debug/pprof', () => {
  /** A gateway with a stopped clock, and a profile of one second. */
  async function taken(path: string) {
    const clock = createFakeClock()
    const { send } = await aGateway(undefined, { clock, serving: { takesProfiles: true } })
    const response = send({ method: 'GET', path, headers: {} })
    const beat = setInterval(() => clock.advance(1_000), 1)
    onTestFinished(() => clearInterval(beat))
    const { status, headers, body } = await response
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    return { status, headers, bytes: Buffer.concat(chunks) }
  }

  test('has an index with a link to each profile', async () => {
    const { status, headers, bytes } = await taken('/debug/pprof/')
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(bytes.toString()).toContain('<a href="heap?seconds=10">heap</a>')
  })

  test('returns a CPU profile in the format of pprof: gzipped, with samples and nanoseconds', async () => {
    const { status, headers, bytes } = await taken('/debug/pprof/profile?seconds=1')
    expect([status, headers['content-type']]).toEqual([200, 'application/octet-stream'])
    expect(headers['content-disposition']).toBe('attachment; filename="profile.pb.gz"')
    const { sampleTypes, periodType } = readProfile(gunzipSync(bytes))
    expect({ sampleTypes, periodType }).toEqual({ sampleTypes: ['samples/count', 'cpu/nanoseconds'], periodType: 'cpu/nanoseconds' })
  })

  test('returns a heap profile in the format of pprof', async () => {
    const { status, bytes } = await taken('/debug/pprof/heap?seconds=1')
    expect(status).toBe(200)
    expect(readProfile(gunzipSync(bytes)).sampleTypes).toEqual(['inuse_objects/count', 'inuse_space/bytes'])
  })

  test('returns profiles of V8 with ?format=v8', async () => {
    const cpu = await taken('/debug/pprof/profile?seconds=1&format=v8')
    expect(cpu.headers['content-disposition']).toBe('attachment; filename="profile.cpuprofile"')
    expect(JSON.parse(cpu.bytes.toString())).toMatchObject({ nodes: expect.any(Array), startTime: expect.any(Number) })
    const heap = await taken('/debug/pprof/heap?seconds=1&format=v8')
    expect(heap.headers['content-disposition']).toBe('attachment; filename="heap.heapprofile"')
    expect(JSON.parse(heap.bytes.toString())).toMatchObject({ head: { children: expect.any(Array) } })
  })

  test.each([
    ['seconds=0', 'seconds=0: must be a whole number from 1 to 60'],
    ['seconds=61', 'seconds=61: must be a whole number from 1 to 60'],
    ['seconds=x', 'seconds=x: must be a whole number from 1 to 60'],
    ['format=svg', 'format=svg: must be pprof or v8'],
  ])('refuses ?%s', async (query, message) => {
    const { status, body } = await server.api.get(`/debug/pprof/profile?${query}`)
    expect([status, body['message']]).toEqual([400, message])
  })

  test('takes one profile of a kind at a time, and another after an interrupted profile', async () => {
    const clock = createFakeClock()
    const profilers = new Profilers()
    const gone = new AbortController()
    const first = profilers.take('heap', 'v8', { clock, durationMs: 1_000, signal: gone.signal })
    const time = { clock, durationMs: 1_000, signal: AbortSignal.abort() }
    await expect(profilers.take('heap', 'v8', time)).rejects.toThrow('heap profiling already in use')
    gone.abort()
    await first
    expect((await profilers.take('heap', 'v8', time)).length).toBeGreaterThan(0)
  })

  const frame = (functionName: string, lineNumber: number) => ({
    functionName,
    scriptId: '1',
    url: 'file:///a.js',
    lineNumber,
    columnNumber: 0,
  })

  test('converts stacks of V8 to pprof, without idle time', () => {
    const nodes = [
      { id: 1, callFrame: frame('(root)', -1), children: [2, 4] },
      { id: 2, callFrame: frame('outer', 9), children: [3] },
      { id: 3, callFrame: frame('', 19) },
      { id: 4, callFrame: frame('(idle)', -1) },
    ]
    const profile = { nodes, startTime: 1_000, endTime: 7_000, samples: [3, 3, 2, 4], timeDeltas: [1_000, 2_000, 500, 1_500] }
    expect(readProfile(cpuToPprof(profile, 5))).toEqual({
      sampleTypes: ['samples/count', 'cpu/nanoseconds'],
      periodType: 'cpu/nanoseconds',
      period: 1_000_000,
      timeNanos: 5_000_000,
      durationNanos: 6_000_000,
      samples: [
        { stack: ['(anonymous) file:///a.js:20', 'outer file:///a.js:10'], values: [2, 3_000_000] },
        { stack: ['outer file:///a.js:10'], values: [1, 500_000] },
      ],
    })
  })

  test('converts allocations of V8 to pprof', () => {
    const leaf = { id: 2, callFrame: frame('make', 4), selfSize: 4_096, children: [] }
    const profile = { head: { id: 1, callFrame: frame('(root)', -1), selfSize: 0, children: [leaf] }, samples: [] }
    expect(readProfile(heapToPprof(profile, 5)).samples).toEqual([{ stack: ['make file:///a.js:5'], values: [1, 4_096] }])
  })
})
