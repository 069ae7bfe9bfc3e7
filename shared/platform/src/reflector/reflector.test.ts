import type { StorageService } from '@orch/core/contracts'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../log.ts'
import { Reflector, type ReflectorChange } from './reflector.ts'

const resource = 'core/namespaces'

function open() {
  const storage = createTinyStorage()
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const clock = createFakeClock()
  const start = (source: StorageService = storage) => {
    const decode = (value: Uint8Array) => {
      const { text } = JSON.parse(Buffer.from(value).toString()).data
      if (text === 'broken') throw new Error('broken')
      return text as string
    }
    const reflector = new Reflector({ storage: source, clock, log: silentLog, random: () => 0, resource, decode, signal: stop.signal })
    const seen: string[] = []
    reflector.onChange(({ key, before, after }: ReflectorChange<string>) => seen.push(`${key}: ${before} → ${after}`))
    return { reflector, seen }
  }
  return { storage, stop, clock, start }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a watched collection contains the earlier and the later objects', async () => {
  const { storage, start } = open()
  storage.put({ resource, name: 'a', data: 'one' })
  const { reflector, seen } = start()
  await reflector.ready
  expect([reflector.get(`${resource}/a`), reflector.revision]).toEqual(['one', 1])
  storage.put({ resource, name: 'b', data: 'two' })
  storage.put({ resource: 'core/pods', name: 'p', data: 'other' })
  storage.remove(resource, 'a')
  storage.sendPosition()
  await turn()
  expect([[...reflector.values()], reflector.revision]).toEqual([['two'], 4])
  expect(seen.slice(1)).toEqual([`${resource}/b: undefined → two`, `${resource}/a: one → undefined`])
})

test('a broken stream is resumed at its end', async () => {
  const { storage, start } = open()
  const { reflector, seen } = start()
  await reflector.ready
  storage.put({ resource, name: 'a', data: 'one' })
  await turn()
  storage.breakStreams()
  storage.put({ resource, name: 'a', data: 'two' })
  await turn()
  expect(seen).toEqual([`${resource}/a: undefined → one`, `${resource}/a: one → two`])
})

test('after lost history the collection is loaded again, and only differences are reported', async () => {
  const { storage, start } = open()
  for (const name of ['kept', 'gone']) storage.put({ resource, name, data: name })
  const { reflector, seen } = start()
  await reflector.ready
  await turn()
  seen.length = 0
  storage.remove(resource, 'gone')
  storage.put({ resource, name: 'new', data: 'new' })
  storage.replace('e2')
  await turn()
  expect([...reflector.values()].sort()).toEqual(['kept', 'new'])
  expect(seen.sort()).toEqual([`${resource}/gone: gone → undefined`, `${resource}/new: undefined → new`])
})

test('an object that cannot be decoded is left out', async () => {
  const { storage, start } = open()
  storage.put({ resource, name: 'a', data: 'broken' })
  storage.put({ resource, name: 'b', data: 'fine' })
  const { reflector } = start()
  await reflector.ready
  expect([...reflector.values()]).toEqual(['fine'])
})

test('watching ends with its signal, and holds no stream', async () => {
  const { storage, stop, start } = open()
  const { reflector } = start()
  await reflector.ready
  await turn()
  expect(storage.followers).toBe(1)
  stop.abort()
  await turn()
  expect(storage.followers).toBe(0)
})

test('an unreachable storage is tried again with a growing delay', async () => {
  const { storage, clock, start } = open()
  let failures = 3
  const list: StorageService['list'] = (request, context) => {
    failures -= 1
    if (failures >= 0) throw new Error('out of reach')
    return storage.list(request, context)
  }
  storage.put({ resource, name: 'a', data: 'one' })
  const { reflector } = start({ ...storage, list })
  for (let step = 0; step < 10; step += 1) {
    await turn()
    clock.advance(1_000)
  }
  await reflector.ready
  expect(reflector.get(`${resource}/a`)).toBe('one')
})
