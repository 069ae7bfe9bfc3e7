import { queryObjects } from 'node:v8'
import type { Change } from '@orch/core/contracts'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { parseYamlBytes } from '@orch/core/yaml'
import { expect, test } from 'vitest'
import type { GatewayRequest } from '../../services/gateway/src/request/request.ts'
import { RequestLog } from '../../services/gateway/src/request/request-log.ts'
import { History } from '../../services/storage/src/memory/history.ts'
import { Interner, Slabs, toChange, toStoredObject } from '../../services/storage/src/memory/stored-object.ts'
import { Window } from '../../services/watch/src/window.ts'
import { systemClock } from '../../shared/platform/src/clock.ts'
import { IdleTimer } from '../../shared/platform/src/idle-timer.ts'
import { Queue } from '../../shared/platform/src/queue.ts'
import { PushStream } from '../../shared/platform/src/rpc/push-stream.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const countOf = (marked: new () => object) => queryObjects(marked, { format: 'count' })

test('a history holds no dropped changes in memory', () => {
  class Marked {}
  const history = new History(1, 1_000_000_000)
  const room = { interner: new Interner(), slabs: new Slabs() }
  for (const revision of numbers(101).slice(1)) {
    const encoded = encodeObject({ metadata: { name: 'a', uid: 'u' }, at: revision })
    const value = encodeStored({ fingerprint: 7, writeId: 'w', expiresAtMs: 9, encoded, labels: {}, fields: {} })
    const after = toStoredObject({ key: 'a', revision, value }, room)
    const change: Change = toChange({ revision, previous: revision - 1, replaces: 0, key: 'a', writeId: '' }, after, undefined)
    history.push({ change: Object.assign(new Marked(), change), before: undefined, after })
  }
  history.forget(99)
  expect([history.after(99, 10).length, countOf(Marked)]).toEqual([2, 2])
})

test('a window of changes holds no dropped change', () => {
  class Marked {}
  const window = new Window({ from: 0, bytesMax: 10 * 500 })
  const facts = { labels: {}, fields: {} }
  for (const revision of numbers(500)) {
    const change: Change = { revision, previous: revision - 1, key: 'a', before: { revision: revision - 1, facts } }
    window.append(Object.assign(new Marked(), change))
  }
  expect([window.from, countOf(Marked)]).toEqual([490, 10])
})

test('an idle timer that is closed releases its connection', () => {
  class Connection {
    readonly idle = new IdleTimer(90_000, () => this.close())
    close(): void {}
  }
  const openAndClose = () => {
    for (const { idle } of numbers(20).map(() => new Connection())) idle.close()
  }
  openAndClose()
  expect(countOf(Connection)).toBe(0)
})

test('LIM-12: the name of a logged request holds no YAML body in memory', () => {
  class Marked {}
  // Counting collects garbage.
  const heapBytes = () => countOf(Marked) + process.memoryUsage().heapUsed
  const log = new RequestLog(systemClock)
  const exchange = { header: () => '', target: '/', peer: { kind: 'unknown' } }
  const fill = (from: number) => {
    for (const index of numbers(100)) {
      const read = parseYamlBytes(Buffer.from(`kind: a-longer-name-${from + index}\nother: ${'x'.repeat(60_000)}\n`))
      if (read.kind !== 'yaml') throw new Error(read.kind)
      const { kind: writtenName } = read.value as { kind: string }
      const request: unknown = {
        logged: -1,
        method: 'POST',
        path: '/',
        user: { name: 'u' },
        code: 422,
        revision: 0,
        fault: '',
        writtenName,
        exchange,
      }
      log.note(request as GatewayRequest, 1)
    }
  }
  fill(0)
  const before = heapBytes()
  fill(100)
  expect(heapBytes() - before).toBeLessThan(2_000_000)
  expect(log.total).toBe(200)
})

test('a queue releases taken items', () => {
  class Marked {}
  const queue = new Queue<Marked>()
  const fill = () => {
    for (const _ of numbers(1_000)) queue.push(new Marked())
  }
  fill()
  for (const _ of numbers(990)) queue.shift()
  expect(countOf(Marked)).toBe(10)
  queue.clear()
  expect([countOf(Marked), queue.length]).toEqual([0, 0])
})

test('a stream releases read items while others wait', async () => {
  class Marked {}
  const stream = new PushStream<Marked>()
  for (const _ of numbers(100)) stream.push(new Marked(), 1)
  const read = async () => {
    for (const _ of numbers(95)) await stream.next()
  }
  await read()
  expect([stream.waitingBytes, countOf(Marked)]).toEqual([5, 5])
})
