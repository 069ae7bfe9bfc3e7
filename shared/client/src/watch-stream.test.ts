import { expect, test } from 'vitest'
import { readWatch } from './watch-stream.ts'

async function orderOf(characters: number): Promise<string[]> {
  const seen: string[] = []
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'x'.repeat(characters) } }
  const event = { type: 'ADDED', object }
  async function* body() {
    yield Buffer.from(`${JSON.stringify(event)}\n`)
  }
  const turn = new Promise<void>((resolve) => setImmediate(resolve)).then(() => seen.push('turn'))
  for await (const read of readWatch({ status: 200, headers: {}, body: body() })) {
    expect(read).toEqual(event)
    seen.push('event')
  }
  await turn
  return seen
}

test('an event is read at once, and a long event in a separate turn', async () => {
  expect(await orderOf(1_000)).toEqual(['event', 'turn'])
  expect(await orderOf(300_000)).toEqual(['turn', 'event'])
})

test.each([
  [
    'as servers print them',
    { name: 'a', labels: { managedFields: 'x' }, managedFields: [{ manager: 'm"]}' }] },
    { name: 'a', labels: { managedFields: 'x' } },
  ],
  ['before other members', { name: 'a', managedFields: [], uid: 'u' }, { name: 'a', uid: 'u' }],
  ['as the first member, where they stay', { managedFields: [{}], name: 'a' }, { managedFields: [{}], name: 'a' }],
  ['that are absent', { name: 'ä' }, { name: 'ä' }],
])('a reader without managers drops managedFields %s', async (_how, metadata, read) => {
  const spec = { metadata: { managedFields: [1] } }
  const body = async function* () {
    yield Buffer.from(`${JSON.stringify({ type: 'ADDED', object: { kind: 'A', metadata, spec } })}\n`)
  }
  const events: unknown[] = []
  for await (const event of readWatch({ status: 200, headers: {}, body: body() }, { omitsManagers: true })) events.push(event)
  expect(events).toEqual([{ type: 'ADDED', object: { kind: 'A', metadata: read, spec } }])
})

test('events in pieces, divided within lines and characters, are read unchanged', async () => {
  const events = ['a', 'ä€😀'].map((name) => ({ type: 'ADDED', object: { metadata: { name } } }))
  const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  async function* body() {
    for (const byte of bytes) yield Uint8Array.of(byte)
    yield Buffer.from('{"type":"an interrupted event')
  }
  const read: unknown[] = []
  for await (const event of readWatch({ status: 200, headers: {}, body: body() })) read.push(event)
  expect(read).toEqual(events)
})
