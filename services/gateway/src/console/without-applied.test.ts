import { expect, test } from 'vitest'
import { WithoutApplied } from './without-applied.ts'

const name = 'kubectl.kubernetes.io/last-applied-configuration'
const applied = JSON.stringify({ data: { 'a"b\\': 'hunter2', '\\"': '\\' } })
const items = [
  { metadata: { name: 'a', annotations: { [name]: applied, note: `"${name}":"kept"` } } },
  { metadata: { name: 'b', labels: { x: '/last-applied' }, annotations: { [name]: '', other: 'ü' } } },
]
const shown = items.map(({ metadata }) => ({ metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: 'withheld' } } }))

function passed(bytes: Buffer, pieceBytes: number): string {
  const filter = new WithoutApplied()
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(filter.pass(bytes.subarray(at, at + pieceBytes)))
  return Buffer.concat([...pieces, filter.end()]).toString()
}

test.each([1, 2, 7, 30, 31, 64, 10_000])(
  'the annotation of kubectl apply is removed, and nothing else is changed, in pieces of %i bytes',
  (size) => {
    expect(JSON.parse(passed(Buffer.from(JSON.stringify(items)), size))).toEqual(shown)
  },
)

test("an answer that ends with a part of the annotation's name is passed on complete", () => {
  expect(passed(Buffer.from('{"text":"/last-applied-conf'), 5)).toBe('{"text":"/last-applied-conf')
})
