import { expect, test } from 'vitest'
import { aServer, type Send } from './send.ts'

const collection = '/api/v1/namespaces/default/configmaps'
const merge = 'application/merge-patch+json'
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

/** The number of answers with each code. */
function codesOf(answers: readonly { readonly code: number }[]): Record<number, number> {
  const codes: Record<number, number> = {}
  for (const { code } of answers) codes[code] = (codes[code] ?? 0) + 1
  return codes
}

/** Reads, adds one and writes back, until no other client wrote first. */
async function increment(send: Send): Promise<void> {
  for (;;) {
    const { body } = await send('GET', `${collection}/counter`)
    const count = Number((body['data'] as { count: string }).count) + 1
    const { code } = await send('PUT', `${collection}/counter`, { ...body, data: { count: String(count) } })
    if (code === 200) return
    expect(code).toBe(409)
  }
}

test('RV-12, VERB-06: sixty-four writers of one counter lose no update', async () => {
  const send = await aServer({ controllers: [] })
  await send('POST', collection, { metadata: { name: 'counter' }, data: { count: '0' } })
  await Promise.all(times(64).map(() => increment(send)))
  expect((await send('GET', `${collection}/counter`)).body['data']).toEqual({ count: '64' })
})

test('VERB-09: sixty-four patches of one object at the same time all succeed', async () => {
  const send = await aServer({ controllers: [] })
  await send('POST', collection, { metadata: { name: 'a' } })
  const answers = await Promise.all(times(64).map((index) => send('PATCH', `${collection}/a`, { data: { [`k${index}`]: '' } }, merge)))
  expect(codesOf(answers)).toEqual({ 200: 64 })
  expect(Object.keys((await send('GET', `${collection}/a`)).body['data'] as object)).toHaveLength(64)
})

test('META-07: one of several parallel creates of a name succeeds, and one of several deletes', async () => {
  const send = await aServer({ controllers: [] })
  for (const _ of times(5)) {
    const created = await Promise.all(times(16).map(() => send('POST', collection, { metadata: { name: 'a' } })))
    expect(codesOf(created)).toEqual({ 201: 1, 409: 15 })
    const deleted = await Promise.all(times(16).map(() => send('DELETE', `${collection}/a`)))
    expect(codesOf(deleted)).toEqual({ 200: 1, 404: 15 })
  }
})

test('DEL-05, DEL-08: sixteen clients that each remove one finalizer from an object under deletion remove the object', async () => {
  const send = await aServer({ controllers: [] })
  const finalizers = times(16).map((index) => `example.com/f${index}`)
  await send('POST', collection, { metadata: { name: 'a', finalizers } })
  await send('DELETE', `${collection}/a`)
  const takeOff = async (finalizer: string): Promise<void> => {
    for (;;) {
      const { code, body } = await send('GET', `${collection}/a`)
      expect(code).toBe(200)
      const left = (body.metadata as unknown as { finalizers: string[] }).finalizers.filter((one) => one !== finalizer)
      const written = await send('PUT', `${collection}/a`, { ...body, metadata: { ...body.metadata, finalizers: left } })
      if (written.code === 200) return
      expect(written.code).toBe(409)
    }
  }
  await Promise.all(finalizers.map(takeOff))
  expect((await send('GET', `${collection}/a`)).code).toBe(404)
})

test('CHUNK-03: pages show the state of the first page, after any deletes in between', async () => {
  const send = await aServer({ controllers: [] })
  const names = times(40).map((index) => `c${String(index).padStart(2, '0')}`)
  await Promise.all(names.map((name) => send('POST', collection, { metadata: { name } })))
  const seen: string[] = []
  let token = ''
  do {
    const page = await send('GET', `${collection}?limit=7&continue=${token}`)
    const { items, metadata } = page.body as unknown as { items: { metadata: { name: string } }[]; metadata: { continue?: string } }
    seen.push(...items.map(({ metadata: { name } }) => name))
    token = metadata.continue ?? ''
    await Promise.all(names.slice(seen.length - 3, seen.length + 4).map((name) => send('DELETE', `${collection}/${name}`)))
  } while (token !== '')
  expect(seen).toEqual(names)
})
