import { Session } from 'node:inspector/promises'
import { runInThisContext } from 'node:vm'
import { expect, test } from 'vitest'
import { callsIn } from './calls.ts'
import { isOperation, pod } from './load.ts'
import { type Counts, roleOf, threadKindOf } from './processes.ts'
import { printReport } from './report.ts'
import { stepOfFile, timeBySteps } from './steps.ts'

const frame = (functionName: string, url = '') => ({ functionName, url })
const built = 'file:///srv/orch'

test.each([
  ['node:_tls_wrap', 'TLS'],
  ['node:internal/stream_base_commons', 'TLS'],
  ['node:_http_server', 'HTTP'],
  ['node:internal/http2/core', 'rpc'],
  [`${built}/shared/core/dist/json/scan.js`, 'parse'],
  [`${built}/shared/core/dist/json/print.js`, 'encode'],
  [`${built}/shared/core/dist/schema/decode.js`, 'decode'],
  [`${built}/shared/core/dist/catalogue/defaults/pod.js`, 'defaults'],
  [`${built}/shared/core/dist/catalogue/validation/pod.js`, 'validation'],
  [`${built}/shared/core/dist/apply/ownership.js`, 'ownership'],
  [`${built}/services/gateway/dist/write/ownership.js`, 'ownership'],
  [`${built}/services/gateway/dist/write/admission.js`, 'admission'],
  [`${built}/services/gateway/dist/write/commit.js`, 'handling'],
  [`${built}/services/gateway/dist/authorization/rbac.js`, 'access'],
  [`${built}/services/gateway/dist/watch-hub/hub.js`, 'delivery'],
  [`${built}/shared/platform/dist/rpc/codec.js`, 'rpc'],
  [`${built}/services/storage/dist/etcd/commit.js`, 'store'],
  [`${built}/services/storage/dist/publisher/publisher.js`, 'feed'],
  [`${built}/services/storage/src/publisher/publisher.ts`, 'feed'],
  ['node:internal/streams/readable', undefined],
  ['', undefined],
])('a function of %s belongs to the step %s', (url, step) => {
  expect(stepOfFile(url)).toBe(step)
})

test('a sample counts for the innermost function with a known file, and idle time is not counted', () => {
  const nodes = [
    { id: 1, callFrame: frame('(root)'), children: [2, 6, 7, 8] },
    { id: 2, callFrame: frame('commit', `${built}/services/gateway/dist/write/commit.js`), children: [3, 5] },
    { id: 3, callFrame: frame('decode', `${built}/shared/core/dist/schema/decode.js`), children: [4] },
    { id: 4, callFrame: frame('sort') },
    { id: 5, callFrame: frame('(garbage collector)') },
    { id: 6, callFrame: frame('(idle)') },
    { id: 7, callFrame: frame('(program)') },
    { id: 8, callFrame: frame('post', 'node:inspector') },
  ]
  const samples = [2, 4, 4, 5, 6, 7, 1, 8]
  const times = timeBySteps({ nodes, samples, timeDeltas: [1, 10, 20, 100, 1_000, 10_000, 100_000, 1_000_000] })
  expect(Object.fromEntries(times)).toEqual({ handling: 1, decode: 30, garbage: 100, native: 10_000, other: 100_000 })
})

test('a planted function in a file of owners is found in a profile of V8', async () => {
  const code = '(function planted(until) { let sum = 0; for (let i = 0; i < until; i++) sum += Math.sqrt(i ^ sum); return sum })'
  const planted = runInThisContext(code, { filename: `${built}/shared/core/dist/apply/planted.js` }) as (until: number) => number
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 100 })
  await session.post('Profiler.start')
  planted(20_000_000)
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const times = timeBySteps(profile)
  const others = [...times].filter(([step]) => step !== 'native' && step !== 'other' && step !== 'garbage')
  expect(others.map(([step]) => step)).toContain('ownership')
  expect(Math.max(...others.map(([, time]) => time))).toBe(times.get('ownership'))
})

test('a process is named after its service, and another program after its own name', () => {
  expect(roleOf(['/usr/bin/node', '--max-semi-space-size=16', '/srv/main.js', 'gateway', '--listen=x'])).toBe('gateway')
  expect(roleOf(['/opt/etcd/etcd', '--data-dir', '/x.js'])).toBe('etcd')
  expect(roleOf(['node'])).toBe('')
})

test('threads are distinguished by their names', () => {
  expect(threadKindOf('node-MainThread', true)).toBe('main')
  expect(threadKindOf('node-V8Worker', false)).toBe('V8')
  expect(threadKindOf('DelayedTaskSche', false)).toBe('V8')
  expect(threadKindOf('libuv-worker', false)).toBe('pool')
  expect(threadKindOf('SignalInspector', false)).toBe('other')
})

test('calls of another service are counted by method, with any outcome', () => {
  const line = (method: string, code: string, count: number) =>
    `orch_rpc_client_duration_seconds_count{service="Storage",method="${method}",code="${code}"} ${count}\n`
  const text = `# HELP x\n${line('Commit', '200', 3)}${line('Commit', '409', 2)}${line('Get', '200', 1)}orch_rpc_client_duration_seconds_sum{service="Storage",method="Get",code="200"} 9\n`
  expect(callsIn('gateway-0', text)).toEqual([
    ['gateway-0 → Storage.Commit', 5],
    ['gateway-0 → Storage.Get', 1],
  ])
})

test('a report scales the shares of steps to the kernel’s counts, with etcd apart', () => {
  const counts = (main: number, other: number, reads: number): Counts => ({
    cpu: { main, V8: main / 10, pool: 0, other },
    reads,
    readBytes: 1_000 * reads,
    writes: 0,
    writtenBytes: 0,
    voluntarySwitches: 0,
    involuntarySwitches: 0,
  })
  const text = printReport({
    operation: 'create',
    count: 10,
    perSecond: 100,
    ownMicros: 50,
    processes: [
      {
        role: 'storage',
        before: counts(1_000, 0, 5),
        after: counts(3_000, 0, 25),
        times: new Map([
          ['store', 3],
          ['rpc', 1],
        ]),
      },
      { role: 'etcd', before: counts(0, 100, 0), after: counts(0, 1_100, 0), times: undefined },
    ],
    calls: { before: new Map([['a → b', 5]]), after: new Map([['a → b', 25]]) },
  })
  expect(text).toContain('create: 220 µs of CPU each, with etcd and NATS 320; 100/s (10 in all')
  expect(text).toContain('| storage | 220 | 200 | 20 | 0 | 0 | 0.0 | 0.0 | 2.0 | 2.0 | 0.0 | 0.0 |')
  expect(text).toContain('| storage | 50 | 150 | 20 |')
  expect(text).toContain('| a → b | 2.00 |')
})

test('the Pod of a load has about 3 KB, and its operations have known names', () => {
  expect(JSON.stringify(pod('one')).length).toBeGreaterThan(2_700)
  expect(JSON.stringify(pod('one')).length).toBeLessThan(3_300)
  expect([isOperation('create'), isOperation('toString')]).toEqual([true, false])
})
