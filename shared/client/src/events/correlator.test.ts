import { describe, expect, test } from 'vitest'
import { EventCorrelator, type ReportedEvent } from './correlator.ts'

const about = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'a', name: 'web', uid: 'u' }
const minute = 60_000

/** The writes for events with these messages, with a pause before each. */
function writesOf(messages: readonly string[], options: { pauseMs?: number; differing?: (index: number) => Partial<ReportedEvent> } = {}) {
  const { pauseMs = 0, differing = () => ({}) } = options
  const correlator = new EventCorrelator()
  return messages.map((message, index) => {
    const event: ReportedEvent = { name: `e${index}`, about, type: 'Normal', reason: 'SuccessfulCreate', message, ...differing(index) }
    const correlated = correlator.correlate(event, index * pauseMs)
    if (correlated.kind === 'skipped') return 'skipped'
    const { kind, count, firstMs } = correlated
    return `${kind} ${correlated.event.name} ${correlated.event.message} ${count} ${firstMs / minute}`
  })
}

const different = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`)

describe('WL-COMMON-35: the correlator of events', () => {
  test('equal events raise the count of the first', () => {
    expect(writesOf(['a', 'a', 'b', 'a'], { pauseMs: minute })).toEqual([
      'create e0 a 1 0',
      'patch e0 a 2 0',
      'create e2 b 1 2',
      'patch e0 a 3 0',
    ])
  })

  test.each<[string, (index: number) => Partial<ReportedEvent>]>([
    ['reason', (index) => ({ reason: `R${index}` })],
    ['type', (index) => ({ type: index === 0 ? 'Normal' : 'Warning' })],
    ['object', (index) => ({ about: { ...about, uid: `u${index}` } })],
  ])('events that differ by %s are not counted together', (_what, differing) => {
    expect(writesOf(['a', 'a'], { differing })).toEqual(['create e0 a 1 0', 'create e1 a 1 0'])
  })

  test('from the tenth event on that differs only in its message, events are combined', () => {
    expect(writesOf(different(12)).slice(8)).toEqual([
      'create e8 m8 1 0',
      'create e9 (combined from similar events): m9 1 0',
      'patch e9 (combined from similar events): m10 2 0',
      'patch e9 (combined from similar events): m11 3 0',
    ])
  })

  test('similar events with more than ten minutes between them are not combined', () => {
    const writes = writesOf(different(12), { pauseMs: 10 * minute + 1 })
    expect(writes.filter((write) => write.includes('combined'))).toEqual([])
    expect(writesOf(different(10), { pauseMs: 10 * minute }).at(-1)).toBe('create e9 (combined from similar events): m9 1 90')
  })

  test('an object gets 25 events of one type at once, then one every five minutes', () => {
    const same = Array.from({ length: 27 }, () => 'a')
    expect(writesOf(same).slice(23)).toEqual(['patch e0 a 24 0', 'patch e0 a 25 0', 'skipped', 'skipped'])
    const correlator = new EventCorrelator()
    const kindAt = (nowMs: number) => correlator.correlate({ name: 'e', about, type: 'Normal', reason: 'R', message: 'a' }, nowMs).kind
    for (const _ of same) kindAt(0)
    expect([kindAt(5 * minute - 1), kindAt(5 * minute), kindAt(5 * minute + 1)]).toEqual(['skipped', 'patch', 'skipped'])
  })
})
