import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createGuard, Guard } from './guard.ts'
import { silentLog } from './log.ts'
import { createMetrics } from './metrics.ts'

function aGuard() {
  const reports: string[] = []
  const ended: string[] = []
  const guard = new Guard((error, place) => void reports.push(`${place}: ${error instanceof Error ? error.message : String(error)}`))
  return { guard, reports, ended, end: (name: string) => () => void ended.push(name) }
}

test('a listener that throws ends only its own exchange', () => {
  const { guard, reports, ended, end } = aGuard()
  guard.run('request', end('first'), () => {
    throw new Error('broken')
  })
  guard.run('request', end('second'), () => {})
  expect([reports, ended]).toEqual([['request: broken'], ['first']])
})

test('a listener whose promise rejects ends its own exchange', async () => {
  const { guard, reports, ended, end } = aGuard()
  await new Promise<void>((resolve) => {
    const both = () => {
      end('late')()
      resolve()
    }
    guard.run('upgrade', both, () => Promise.reject(new Error('too late')))
  })
  expect([reports, ended]).toEqual([['upgrade: too late'], ['late']])
})

test('an end that fails is reported and has no further effect', () => {
  const { guard, reports } = aGuard()
  const end = () => {
    throw new Error('no end')
  }
  guard.run('stream', end, () => {
    throw new Error('broken')
  })
  expect(reports).toEqual(['stream: broken', 'stream: no end'])
})

test('all listeners of an emitter are guarded, including those of libraries and errors without a listener', () => {
  const { guard, reports, ended, end } = aGuard()
  const emitter = guard.watch(new EventEmitter(), 'connection', end('emitter'))
  const seen: unknown[] = []
  emitter.on('data', (...values) => void seen.push(...values))
  expect([emitter.emit('data', 1, 2), emitter.emit('nothing'), seen]).toEqual([true, false, [1, 2]])
  emitter.once('data', () => {
    throw new Error('broken')
  })
  emitter.emit('data', 3)
  emitter.emit('error', new Error('unheard'))
  expect([reports, ended]).toEqual([
    ['connection: broken', 'connection: unheard'],
    ['emitter', 'emitter'],
  ])
})

test('the emitters of a class are guarded, each with its own end', () => {
  const { guard, ended } = aGuard()
  class Named extends EventEmitter {
    name = ''
  }
  guard.watchAll(Named, 'request', ({ name }) => void ended.push(name))
  const [first, second] = [Object.assign(new Named(), { name: 'first' }), Object.assign(new Named(), { name: 'second' })]
  second.on('end', () => {
    throw new Error('broken')
  })
  expect([first.emit('end'), second.emit('end'), ended]).toEqual([false, true, ['second']])
})

test('failures are counted by their place, for all guards of a process together', async () => {
  const metrics = createMetrics({ process: false })
  for (const place of ['request', 'request', 'stream'] as const) {
    createGuard({ log: silentLog, metrics: () => metrics }).run(
      place,
      () => {},
      () => {
        throw new Error('broken')
      },
    )
  }
  expect(await metrics.text()).toContain(
    'orch_exchange_failures_total{place="request"} 2\norch_exchange_failures_total{place="stream"} 1\n',
  )
})
