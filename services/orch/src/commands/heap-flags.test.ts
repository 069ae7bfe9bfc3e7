import { expect, test } from 'vitest'
import { withHeapFlags } from './up-distributed.ts'

test('a process that serves others has room in its old heap, unless the caller has chosen how much', () => {
  expect(withHeapFlags(['--max-semi-space-size=16'])).toEqual(['--max-semi-space-size=16', '--initial-old-space-size=200'])
  expect(withHeapFlags(['--initial-old-space-size=50'])).toEqual(['--initial-old-space-size=50'])
  expect(withHeapFlags(['--initial_old_space_size=50'])).toEqual(['--initial_old_space_size=50'])
})
