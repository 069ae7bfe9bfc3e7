import { fc } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import { applyJsonPatch, type JsonPatchOutcome, jsonPatchOperationsMax, parseJsonPatch } from './json-patch.ts'

function patched(document: unknown, patch: unknown, reader: 'request' | 'unchecked' = 'request'): JsonPatchOutcome {
  const reading = parseJsonPatch(patch, reader)
  return reading.kind === 'patch' ? applyJsonPatch(document, reading.patch) : reading
}

describe('PATCH: JSON patch', () => {
  const good: [name: string, document: unknown, patch: unknown, value: unknown][] = [
    ['nothing to do', { a: 1 }, [], { a: 1 }],
    ['add a member', { a: 1 }, [{ op: 'add', path: '/b', value: null }], { a: 1, b: null }],
    ['add over a member', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
    ['add an item', [1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
    ['add at the end by number', [1], [{ op: 'add', path: '/1', value: 2 }], [1, 2]],
    ['add at the end by dash', [1], [{ op: 'add', path: '/-', value: 2 }], [1, 2]],
    ['add before the last item', [1, 3], [{ op: 'add', path: '/-2', value: 2 }], [1, 2, 3]],
    ['add at the end by -1', [1], [{ op: 'add', path: '/-1', value: 2 }], [1, 2]],
    ['remove the last item', [1, 2], [{ op: 'remove', path: '/-1' }], [1]],
    ['replace the first item, counted from the end', [1, 2], [{ op: 'replace', path: '/-2', value: 3 }], [3, 2]],
    ['change a member of the last item', [{}, {}], [{ op: 'add', path: '/-1/a', value: 1 }], [{}, { a: 1 }]],
    ['a place with a leading zero', [1, 2], [{ op: 'replace', path: '/01', value: 3 }], [1, 3]],
    ['a place with a plus sign', [1, 2], [{ op: 'copy', from: '/+1', path: '/-' }], [1, 2, 2]],
    ['text before the first slash', { a: 1 }, [{ op: 'add', path: 'x/a', value: 2 }], { a: 2 }],
    ['an empty name', {}, [{ op: 'add', path: '/', value: 1 }], { '': 1 }],
    [
      'escapes',
      { 'a/b': { 'c~d': 1, '~1': 2 } },
      [
        { op: 'remove', path: '/a~1b/c~0d' },
        { op: 'test', path: '/a~1b/~01', value: 2 },
      ],
      { 'a/b': { '~1': 2 } },
    ],
    [
      'remove',
      { a: 1, b: [1, 2] },
      [
        { op: 'remove', path: '/a' },
        { op: 'remove', path: '/b/0' },
      ],
      { b: [2] },
    ],
    ['replace', { a: [1] }, [{ op: 'replace', path: '/a/0', value: { b: 1 } }], { a: [{ b: 1 }] }],
    ['replace of an absent member', { a: {} }, [{ op: 'replace', path: '/a/b', value: 1 }], { a: { b: 1 } }],
    ['replace the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    ['move', { a: { b: 1 }, c: [] }, [{ op: 'move', from: '/a/b', path: '/c/0' }], { a: {}, c: [1] }],
    ['move to where it is', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    [
      'copy, then change one of the two',
      { a: { b: [1] } },
      [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'add', path: '/c/b/-', value: 2 },
      ],
      { a: { b: [1] }, c: { b: [1, 2] } },
    ],
    [
      'change, copy, change the first',
      { a: { b: 1 } },
      [
        { op: 'add', path: '/a/b', value: 2 },
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'add', path: '/a/b', value: 3 },
      ],
      { a: { b: 3 }, c: { b: 2 } },
    ],
    [
      'test, members in another order',
      { a: { b: 1, c: [2] } },
      [{ op: 'test', path: '/a', value: { c: [2], b: 1 } }],
      { a: { b: 1, c: [2] } },
    ],
    ['test an absent member for null', {}, [{ op: 'test', path: '/a', value: null }], {}],
    ['add without a value adds null', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['test without a value tests for null', { a: null }, [{ op: 'test', path: '/a' }], { a: null }],
    ['no patch at all', { a: 1 }, null, { a: 1 }],
  ]
  test.each(good)('has the expected result: %s', (_name, document, patch, value) => {
    const before = JSON.stringify(document)
    expect(patched(document, patch)).toEqual({ kind: 'patched', value })
    expect(JSON.stringify(document)).toBe(before)
  })

  const impossible: [name: string, document: unknown, operation: Record<string, unknown>][] = [
    ['a failed test', { a: 1 }, { op: 'test', path: '/a', value: 2 }],
    ['a text is no number', { a: 1 }, { op: 'test', path: '/a', value: '1' }],
    ['remove of an absent member', {}, { op: 'remove', path: '/a' }],
    ['remove of an inherited name', {}, { op: 'remove', path: '/constructor' }],
    ['a path through an inherited name', {}, { op: 'add', path: '/constructor/prototype/x', value: 1 }],
    ['add of the whole', {}, { op: 'add', path: '', value: {} }],
    ['remove of the whole', {}, { op: 'remove', path: '' }],
    ['replace at null', {}, { op: 'replace', path: null, value: {} }],
    ['copy from null', {}, { op: 'copy', from: null, path: '/a' }],
    ['copy of the whole', {}, { op: 'copy', from: '', path: '/a' }],
    ['a path through the place for the end', [{}], { op: 'add', path: '/-/a', value: 1 }],
    ['add below an absent member', {}, { op: 'add', path: '/a/b', value: 1 }],
    ['add below a text', { a: 'x' }, { op: 'add', path: '/a/b', value: 1 }],
    ['add beyond the end', [1], { op: 'add', path: '/2', value: 1 }],
    ['a place before the first', [1], { op: 'add', path: '/-3', value: 1 }],
    ['a place that is no number', [1, 2], { op: 'replace', path: '/1e0', value: 1 }],
    ['replace at the end', [1], { op: 'replace', path: '/1', value: 1 }],
    ['move of an absent member', {}, { op: 'move', from: '/a', path: '/b' }],
    ['move into itself', { a: { b: 1 } }, { op: 'move', from: '/a', path: '/a/b' }],
    ['an unknown operation', {}, { op: 'spam', path: '/a', value: 1 }],
    ['no operation', {}, { path: '/a', value: 1 }],
    ['no path', {}, { op: 'add', value: 1 }],
    ['a path without a slash', {}, { op: 'add', path: 'a', value: 1 }],
    ['no source', {}, { op: 'move', path: '/a' }],
  ]
  test('copies of many small values are refused like those of many bytes', () => {
    const copies = (count: number) => Array.from({ length: count }, () => ({ op: 'copy', from: '/a', path: '/b' }))
    const list = { a: Array.from({ length: 50_000 }, () => 1) }
    expect(patched(list, copies(3))).toMatchObject({ kind: 'patched' })
    expect(patched(list, copies(4))).toMatchObject({ kind: 'refused' })
  })

  test('the copy of an absent member is null', () => {
    expect(patched({}, [{ op: 'copy', from: '/a', path: '/b' }])).toMatchObject({ kind: 'patched', value: { b: null } })
  })

  test.each(impossible)('%s is a 422, and nothing is changed', (_name, document, operation) => {
    const outcome = patched(document, [{ op: 'test', path: '', value: document }, operation])
    expect(outcome.kind === 'refused' && outcome.error.status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    })
  })

  test.each([
    [{}, '[]handlers.jsonPatchOp', 'object'],
    ['x', '[]handlers.jsonPatchOp', 'string'],
    [[1], 'handlers.jsonPatchOp', 'number'],
    [[[]], 'handlers.jsonPatchOp', 'array'],
  ])('the body %o is a 400', (body, type, word) => {
    const outcome = patched({}, body)
    expect(outcome.kind === 'refused' && [outcome.error.code, outcome.error.message]).toEqual([
      400,
      `error decoding patch: json: cannot unmarshal ${word} into Go value of type ${type}`,
    ])
  })

  test.each([
    [{ op: 1, path: '/a' }, 'number', 'op'],
    [{ op: 'add', path: {} }, 'object', 'path'],
    [{ op: 'move', path: '/a', from: true }, 'bool', 'from'],
    [{ path: 1, op: {} }, 'number', 'path'],
  ])('the operation %o is a 400 that names the field; read unchecked, it can only not be applied', (operation, word, field) => {
    const outcome = patched({}, [operation])
    expect(outcome.kind === 'refused' && [outcome.error.code, outcome.error.message]).toEqual([
      400,
      `error decoding patch: json: cannot unmarshal ${word} into Go struct field jsonPatchOp.${field} of type string`,
    ])
    expect(patched({}, [operation], 'unchecked')).toMatchObject({ kind: 'refused', error: { code: 422 } })
  })

  test('null as an operation can not be applied', () => {
    expect(patched({}, [null])).toMatchObject({ kind: 'refused', error: { code: 422 } })
  })

  test.each<[operation: Record<string, unknown>, text: string]>([
    [
      { op: 'add', path: '/l/x', value: 1 },
      `error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [{ op: 'remove', path: '/l/5' }, `error in remove for path: '/l/5': Unable to access invalid index: 5: invalid index referenced`],
    [{ op: 'test', path: '/l/1e0' }, `error in test for path: '/l/1e0': strconv.Atoi: parsing "1e0": invalid syntax`],
    [{ op: 'replace', path: '/l/5', value: 1 }, 'replace operation does not apply: doc is missing key: /l/5: missing value'],
    [{ op: 'move', from: '/l/5', path: '/m' }, `error in move for path: '5': Unable to access invalid index: 5: invalid index referenced`],
    [{ op: 'move', from: '/m', path: '/m/n' }, 'move operation does not apply: doc is missing destination path: /m/n: missing value'],
    [
      { op: 'copy', from: '/l/5', path: '/n' },
      `error in copy for from: '/l/5': Unable to access invalid index: 5: invalid index referenced`,
    ],
    [
      { op: 'copy', from: '/m', path: '/l/5' },
      'error while adding value during copy: Unable to access invalid index: 5: invalid index referenced',
    ],
    [{ op: 'copy', from: 'm', path: '/n' }, 'copy operation does not apply: doc is missing from path: m: missing value'],
    [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
  ])("the cause of the refusal of %o is in kube-apiserver's words", (operation, text) => {
    const outcome = patched({ l: [1], m: {} }, [operation])
    expect(outcome.kind === 'refused' && (outcome.error.cause as Error).message).toBe(text)
  })

  test('LIM: more than 10,000 operations are a 413', () => {
    const operation = { op: 'test', path: '/a', value: 1 }
    expect(patched({ a: 1 }, new Array(jsonPatchOperationsMax).fill(operation)).kind).toBe('patched')
    const outcome = patched({ a: 1 }, new Array(jsonPatchOperationsMax + 1).fill(operation))
    expect(outcome.kind === 'refused' && [outcome.error.code, outcome.error.message]).toEqual([
      413,
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ])
  })

  test('LIM: a path of 10,000 levels is followed, and a longer one leads nowhere', () => {
    let document: unknown = { a: 1 }
    for (let depth = 1; depth < 10_001; depth += 1) document = { a: document }
    const kindAt = (levels: number) => patched(document, [{ op: 'replace', path: '/a'.repeat(levels), value: 2 }]).kind
    expect([kindAt(10_000), kindAt(10_001)]).toEqual(['patched', 'refused'])
  })

  test('LIM: a copy that is too large is refused before it is made', () => {
    let reads = 0
    const last = {
      get item() {
        reads += 1
        return 1
      },
    }
    const lists = Array.from({ length: 200 }, () => Array.from({ length: 1_000 }, () => 1))
    expect(patched({ a: [...lists, last] }, [{ op: 'copy', from: '/a', path: '/b' }]).kind).toBe('refused')
    expect(reads).toBe(0)
  })

  test('LIM: copies that double the document stop at 3 MiB', () => {
    const copies = Array.from({ length: 30 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/c${index}` }))
    expect(patched({ a: { b: 'x'.repeat(1000) } }, copies.slice(0, 8)).kind).toBe('patched')
    expect(patched({ a: { b: 'x'.repeat(1000) } }, copies).kind).toBe('refused')
  })

  test('LIM: a copy costs its source, not its destination', () => {
    const large = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`k${index}`, 1]))
    const copies = new Array(jsonPatchOperationsMax).fill({ op: 'copy', from: '/k0', path: '/copy' })
    expect(patched(large, copies).kind).toBe('patched')
  })

  test('a change in a copy does not change the original', () => {
    const patch = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/l/0', value: 0 },
      { op: 'add', path: '/a/l/1', value: 2 },
    ]
    const outcome = patched({ a: { l: [1] } }, patch)
    expect(outcome.kind === 'patched' && outcome.value).toEqual({ a: { l: [1, 2] }, b: { l: [0, 1] } })
  })

  test('LIM: a patch that keeps moving a long list is refused', () => {
    const long = Array.from({ length: 300_000 }, () => 1)
    const front = { op: 'add', path: '/0', value: 1 }
    expect(patched(long, new Array(100).fill(front)).kind).toBe('patched')
    expect(patched(long, new Array(jsonPatchOperationsMax).fill(front)).kind).toBe('refused')
    expect(patched(long, new Array(jsonPatchOperationsMax).fill({ op: 'remove', path: '/0' })).kind).toBe('refused')
    expect(patched(long, new Array(jsonPatchOperationsMax).fill({ ...front, path: '/-' })).kind).toBe('patched')
  })

  test('names of JavaScript properties are plain data', () => {
    const outcome = patched(
      {},
      JSON.parse('[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"add","path":"/__proto__/y","value":2}]'),
    )
    expect(outcome.kind === 'patched' && JSON.stringify(outcome.value)).toBe('{"__proto__":{"x":1,"y":2}}')
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
})

test('any patch is applied or refused, and never changes its input', () => {
  const path = fc.constantFrom('', '/a', '/b', '/a/b', '/a/0', '/a/-', '/b/1/a', 'x', '/__proto__')
  const operation = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    path,
    from: path,
    value: fc.jsonValue({ maxDepth: 2 }),
  })
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 3 })),
      fc.array(operation, { maxLength: 6 }),
      (document, patch) => {
        const before = JSON.stringify([document, patch])
        expect(['patched', 'refused']).toContain(patched(document, patch).kind)
        expect(JSON.stringify([document, patch])).toBe(before)
      },
    ),
  )
})
