import type { Change, ChangesPart } from '@orch/core/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { ChangeStream, Notifier, type StateReader } from './changes.ts'

const turns = async (count = 6) => {
  for (let round = 0; round < count; round += 1) await Promise.resolve()
}

/** A state whose reads are counted, and one stream of it. */
function open(resources: readonly string[]) {
  const notifier = new Notifier()
  const all: Change[] = []
  const asked: number[] = []
  const state: { -readonly [Member in keyof StateReader]: StateReader[Member] } = {
    epoch: 'e1',
    revision: 0,
    compacted: 0,
    changesAfter: async (after: number) => {
      asked.push(after)
      return { kind: 'changes', changes: all.filter(({ revision }) => revision > after), upTo: state.revision }
    },
  }
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const parts: ChangesPart[] = []
  const done = (async () => {
    const request = { after: 0, epoch: 'e1', resources: [...resources] }
    for await (const part of new ChangeStream(request, { state, notifier, onClose: () => {} }, ending.signal)) parts.push(part)
  })()
  return {
    notifier,
    state,
    asked,
    parts,
    end: async () => {
      ending.abort()
      await done
    },
    put(...keys: string[]) {
      const changes = keys.map((key) => {
        const change = { revision: state.revision + 1, previous: state.revision, key }
        state.revision = change.revision
        return change as unknown as Change
      })
      all.push(...changes)
      notifier.notify(changes)
    },
    /** The received changes, in short. */
    told: () => parts.map((part) => (part.kind === 'changes' ? part.changes.map(({ key }) => key).join() : JSON.stringify(part))),
  }
}

test('a stream is not woken by changes outside its selection', async () => {
  const { put, told, asked } = open(['core/secrets', 'core/namespaces'])
  await turns()
  for (let index = 0; index < 20; index += 1) {
    put('core/configmaps/default/a', 'core/pods/default/b')
    await turns()
  }
  expect(asked).toEqual([])
  put('core/pods/default/b', 'core/secrets/default/s', 'core/pods/default/c')
  await turns()
  expect(told()).toEqual(['core/secrets/default/s'])
  expect(asked).toEqual([40])
  put('core/secretsofothers/x')
  await turns()
  expect(asked).toEqual([40])
})

test('a stream of one namespace receives the changes of that namespace', async () => {
  const { put, told } = open(['core/services/default'])
  await turns()
  put('core/services/other/a', 'core/services/default/a')
  await turns()
  put('core/services/other/b')
  put('core/services/default2/c')
  await turns()
  put('core/services/default/b')
  await turns()
  expect(told()).toEqual(['core/services/default/a', 'core/services/default/b'])
})

test('a stream that was not woken still sends its position, without reading the skipped changes', async () => {
  const { put, told, asked, notifier, state } = open(['core/secrets'])
  await turns()
  put('core/configmaps/default/a')
  notifier.tick(state.revision)
  await turns()
  expect(told()).toEqual(['{"kind":"position","revision":1,"epoch":"e1"}'])
  put('core/configmaps/default/b')
  put('core/secrets/default/s')
  await turns()
  expect(told().slice(1)).toEqual(['core/secrets/default/s'])
  expect(asked).toEqual([2])
})

test('a stream receives each position once, and no position is due after that', async () => {
  for (const resources of [['core/secrets'], []]) {
    const { put, told, notifier, state } = open(resources)
    let moves = 0
    notifier.onMoved = () => {
      moves += 1
    }
    await turns()
    put('core/configmaps/default/a')
    await turns()
    expect(moves).toBeGreaterThan(0)
    for (let time = 0; time < 3; time++) {
      notifier.tick(state.revision)
      await turns()
      moves = 0
    }
    expect([told().filter((part) => part.includes('position')).length, moves]).toEqual([1, 0])
  }
})

test('a position that is due during a restore skips no change of it, since the restore may fail', async () => {
  const { put, told, notifier, state } = open(['core/secrets'])
  await turns()
  notifier.isSilent = true
  put('core/secrets/default/a')
  notifier.tick(state.revision)
  await turns()
  notifier.isSilent = false
  notifier.notifyAll()
  await turns()
  expect(told()[0]).toBe('core/secrets/default/a')
})

test('changes during a stream’s wake-up are read with it', async () => {
  const { put, told } = open(['core/secrets'])
  await turns()
  put('core/secrets/default/a')
  put('core/configmaps/default/b')
  put('core/secrets/default/c')
  await turns()
  expect(told()).toEqual(['core/secrets/default/a,core/secrets/default/c'])
})

test('a stream of all changes receives each change, and a stream of another epoch ends', async () => {
  const { put, told, notifier, state } = open([])
  await turns()
  put('core/configmaps/default/a')
  await turns()
  expect(told()).toEqual(['core/configmaps/default/a'])
  state.epoch = 'e2'
  notifier.notifyAll()
  await turns()
  expect(told().at(-1)).toBe('{"kind":"expired","oldest":0,"epoch":"e2"}')
})

test('a stream that waits ends when it is aborted', async () => {
  const { end, parts } = open(['core/secrets'])
  await turns()
  await end()
  expect(parts).toEqual([])
})
