import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { withRevision } from './frames.ts'

const changed = (text: string, revision: number) => Buffer.from(withRevision(Buffer.from(text), revision)).toString()

test('WATCH-21: only metadata.resourceVersion is replaced', () => {
  const cases: [string, string][] = [
    [
      '{"metadata":{"name":"a","resourceVersion":"7","labels":{}},"x":1}',
      '{"metadata":{"name":"a","resourceVersion":"90","labels":{}},"x":1}',
    ],
    [
      '{"data":{"resourceVersion":"7"},"metadata":{"resourceVersion":"7"}}',
      '{"data":{"resourceVersion":"7"},"metadata":{"resourceVersion":"90"}}',
    ],
    [
      '{"metadata":{"annotations":{"resourceVersion":"7"},"resourceVersion":"7"}}',
      '{"metadata":{"annotations":{"resourceVersion":"7"},"resourceVersion":"90"}}',
    ],
    ['{"metadata":{"name":"\\"resourceVersion\\":\\"7\\""}}', '{"metadata":{"name":"\\"resourceVersion\\":\\"7\\""}}'],
    ['{ "metadata" : { "resourceVersion" : "7" } }', '{ "metadata" : { "resourceVersion" : "90" } }'],
    ['{"kind":"X"}', '{"kind":"X"}'],
    ['[]', '[]'],
  ]
  for (const [before, after] of cases) expect(changed(before, 90)).toBe(after)
})

test('all other members of an object stay unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()), (first, last, labels) => {
      const object = (resourceVersion: string) => JSON.stringify({ first, metadata: { labels, resourceVersion, last }, last })
      expect(changed(object('12'), 345)).toBe(object('345'))
    }),
  )
})
