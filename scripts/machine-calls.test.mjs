import { describe, expect, test } from 'vitest'
import { isProduct } from './check-code.mjs'
import { checkMachineCalls, machineFiles } from './machine-calls.mjs'

const file = 'services/gateway/src/a.ts'
const check = (text, list = {}) => checkMachineCalls([{ file, text }], list)
const byClock = (name) => `${file}:1: ${name} passes the clock by; take a Clock, or systemClock`
const byTimer = (name) => `${file}:1: ${name} passes the clock by; take clock.after, clock.every, sleep or timeoutSignal`
const byAbort = `${file}:1: addEventListener('abort') misses an earlier abort; take onAbort, aborted or unlessAborted`
const byChance = (name) => `${file}:1: ${name} passes chance by; draw from a Chance`

describe('time and chance of the machine', () => {
  test.each([
    ['the time of the machine', 'const nowMs = Date.now()', byClock('Date.now')],
    ['a date of now', 'const date = new Date()', byClock('new Date()')],
    ['a time that never goes back', 'start(performance.now)', byClock('performance.now')],
    ['a time that never goes back, imported', "import { performance as p } from 'node:perf_hooks'", byClock('performance')],
    ['a finer time', 'const from = process.hrtime.bigint()', byClock('process.hrtime')],
    ['a bare timer', 'const timer = setTimeout(ring, 5)', byTimer('setTimeout')],
    ['a bare timer of the global object', 'globalThis.setInterval(ring, 5)', byTimer('setInterval')],
    ['a timer under another name', "import { setTimeout as sleep } from 'node:timers/promises'", byTimer('setTimeout')],
    ['a timer of a signal', 'send({ signal: AbortSignal.timeout(5) })', byTimer('AbortSignal.timeout')],
    ['a UUID', "import { randomUUID } from 'node:crypto'", byChance('randomUUID')],
    ['a UUID under another name', "import { createHash, randomUUID as draw } from 'node:crypto'", byChance('randomUUID')],
    ['a UUID of the global object', 'const uid = globalThis.crypto.randomUUID()', byChance('crypto.randomUUID')],
    ['random bytes', "import { randomBytes } from 'node:crypto'", byChance('randomBytes')],
    ['a listener of an AbortSignal', "context.signal?.addEventListener('abort', stop, { once: true })", byAbort],
    ['a random number', 'const random = { random: Math.random }', byChance('Math.random')],
  ])('%s is a violation', (_name, text, message) => {
    expect(check(text)).toEqual([message])
  })

  test('a clock, a date of a given time, timers of sockets, hashes and words in comments are no violations', () => {
    expect(check('const date = new Date(clock.now()) // not Date.now()')).toEqual([])
    expect(check('socket.setTimeout(5)')).toEqual([])
    expect(check("import { createHash } from 'node:crypto'\nimport { setImmediate } from 'node:timers/promises'")).toEqual([])
    expect(check("const text = 'Math.random'")).toEqual([])
    expect(check("page.addEventListener('click', open)\nsignal.removeEventListener('abort', stop)")).toEqual([])
  })

  test('a violation names its line', () => {
    expect(check('const a = 1\n\nconst b = Date.now()\n')).toEqual([byClock('Date.now').replace(':1:', ':3:')])
  })

  test('a file may use the calls that the list allows it, and no other calls', () => {
    const list = { [file]: { takes: ['timers'], reason: 'a test' } }
    expect(check('setTimeout(ring, 5)', list)).toEqual([])
    expect(check('setTimeout(ring, Date.now())', list)).toEqual([byClock('Date.now')])
  })

  test('an entry of the list that no file needs is a violation', () => {
    const list = { [file]: { takes: ['timers', 'chance'], reason: 'a test' }, 'services/gateway/src/b.ts': { takes: [], reason: 'gone' } }
    expect(check('setTimeout(ring, 5)', list)).toEqual([
      `scripts/machine-calls.mjs lists ${file} for chance, which it does not take`,
      'scripts/machine-calls.mjs lists services/gateway/src/b.ts, which is not there',
    ])
  })

  test('each entry of the list is a file of the product, with a reason', () => {
    for (const [name, { takes, reason }] of Object.entries(machineFiles)) {
      expect([name, isProduct(name), takes.length > 0, reason.length > 0]).toEqual([name, true, true, true])
    }
  })

  test('tests may use time and chance of the machine', () => {
    expect(['services/gateway/src/a.test.ts', 'shared/testkit/src/cluster.ts', 'test/api/list.test.ts'].some(isProduct)).toBe(false)
  })
})
