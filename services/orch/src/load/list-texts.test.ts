import { describe, expect, test } from 'vitest'
import { objectsOf } from './list-texts.ts'

const megabyte = 1024 * 1024
const noPause = async () => {}
const namesIn = async (text: string) => (await objectsOf(Buffer.from(text), 'f', noPause)).map(({ name }) => name)
const line = (name: string, data = '') => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: {a: '${data}'}}`
const document = (name: string, data = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: '${data}'}\n`
const list = (...items: readonly string[]) => `kind: List\nitems:\n${items.map((item) => `- ${item}\n`).join('')}apiVersion: v1\n`

describe('the objects of a text', () => {
  test('are the items of a List with any indentation, and those of a sequence after a line of dashes', async () => {
    const items = `  - ${line('a')}\n  - ${line('b')}\n`
    expect(await namesIn(`apiVersion: v1\r\nkind: List\r\nitems:\r\n${items}`)).toEqual(['a', 'b'])
    expect(await namesIn(`---\n- ${line('a')}\n- ${line('b')}\n`)).toEqual(['a', 'b'])
  })

  test('are all found after a dash alone in its line, after bytes that are not UTF-8, and around other ends of lines', async () => {
    expect(await namesIn(list(line('a'), `${line('b')}\n-\n  ${line('c')}`, line('d')))).toEqual([...'abcd'])
    const latin1 = Buffer.concat([Buffer.from([0x23, 0xe9, 0xe9, 0x0a]), Buffer.from(list(line('a'), line('b')))])
    expect((await objectsOf(latin1, 'f', noPause)).map(({ name }) => name)).toEqual(['a', 'b'])
    expect(await namesIn(list(line('a', '\u2028b'), line('c')))).toEqual(['a', 'c'])
  })

  test('are those of several documents, and Lists among them', async () => {
    expect(await namesIn(`${document('a')}---\n${list(line('b'), line('c'))}---\n# nothing\n--- # d\n${document('d')}`)).toEqual([
      ...'abcd',
    ])
    expect(await namesIn(`${list(line('a'))}...\n${document('b')}`)).toEqual(['a', 'b'])
  })

  test('are found beyond the bytes that are searched at once', async () => {
    const large = 'x'.repeat(megabyte)
    for (let missing = 0; missing < 4; missing += 1) {
      const eight = list(...Array.from({ length: 8 }, (_, number) => line(String.fromCharCode(97 + number), large)))
      const overhead = eight.length - 8 * megabyte + missing
      const text = `${eight.replace(large, large.slice(overhead))}---\n${document('i')}`
      expect(await namesIn(text)).toEqual([...'abcdefghi'])
    }
  })

  test('are found with a pause before each of them, as each may take long', async () => {
    let pauses = 0
    const countPauses = async () => {
      pauses += 1
    }
    const items = Array.from({ length: 50 }, (_, number) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `a${number}` } }))
    await objectsOf(Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'List', items })), 'f', countPauses)
    expect(pauses).toBeGreaterThanOrEqual(2 * items.length)
  })

  test('are refused as items of many values when they are read, and not before', async () => {
    const [first] = await objectsOf(Buffer.from(`{"kind":"List","apiVersion":"v1","items":[${wide}]}`), 'f', noPause)
    expect(first?.name).toBe('a')
    expect(() => first?.read()).toThrow('f: an object has more than 75000 values')
  })

  test('are refused when the text has more than a million documents, which may be empty', async () => {
    await expect(namesIn('---\n'.repeat(1_000_002))).rejects.toThrow('f: has more than 1000000 objects: load it in parts')
  })

  test.each([
    [`${document('a')}---\na: [\n`, /^f:[67]: /],
    [`${list(line('a'))}---\n${list(line('a'), 'a: [', line('c'))}`, /^f:[89]: /],
    [`---\n- ${line('a')}\n- a: [\n`, /^f:[34]: /],
  ])('are refused with the line of a mistake in %j', async (text, message) => {
    await expect(namesIn(text)).rejects.toThrow(message)
  })

  const large = 'x'.repeat(5 * megabyte)
  const object = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: large } })
  const oversize = /an object has more than 4194304 bytes, or the items of a List are not one below the other as kubectl prints them$/

  const wide = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":[${'1,'.repeat(75_001)}1]}`

  test.each<[string, string, RegExp]>([
    ['an object of many values in JSON', wide, /^f: an object has more than 75000 values$/],
    ['an object in JSON', object, oversize],
    ['an item in JSON', `{"kind":"List","apiVersion":"v1","items":[{},${object}]}`, oversize],
    ['a member beside the items in JSON', `{"kind":"List","apiVersion":"v1","items":[{}],"metadata":${object}}`, oversize],
    ['a member before the items in JSON', `{"metadata":${object},"kind":"List","apiVersion":"v1","items":[{}]}`, oversize],
    [
      'a List that is cut off',
      `{"kind":"List","apiVersion":"v1","items":[{},{"a":[]},${' '.repeat(5 * megabyte)}`,
      /is not valid JSON after byte 53$/,
    ],
    ['a document in YAML', `${document('a')}---\n${document('b', large)}`, oversize],
    ['an item in YAML', list(line('a'), line('b', large)), oversize],
    ['a member after the items in YAML', `${list(line('a'))}metadata: {a: ${large}}\n`, oversize],
    ['a List in brackets', `kind: List\napiVersion: v1\nitems: [${line('a', large)}]\n`, oversize],
    [
      'too many items',
      `{"kind":"List","apiVersion":"v1","items":[{}${',{}'.repeat(1_000_000)}]}`,
      /has more than 1000000 objects: load it in parts$/,
    ],
  ])('are refused for %s, before it takes the event loop or the memory', async (_what, text, message) => {
    await expect(namesIn(text)).rejects.toThrow(message)
  })
})
