import { expect, test } from 'vitest'
import { keysOf, objectKey } from './selection.ts'

test('a key is the same whether it was asked for last or not', () => {
  const keyOf = keysOf('core/pods')
  const places = [
    [undefined, ''],
    ['', 'a'],
    [undefined, 'a'],
    ['a', ''],
    ['team', 'a'],
    ['team', 'a'],
    ['team', 'b'],
    ['other', 'b'],
    [undefined, 'b'],
    ['team', 'a'],
  ] as const
  for (const [namespace, name] of places) expect(keyOf(namespace, name)).toBe(objectKey('core/pods', namespace, name))
})
