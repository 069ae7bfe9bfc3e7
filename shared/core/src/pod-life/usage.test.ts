import { expect, test } from 'vitest'
import { parseUsage } from './usage.ts'

test.each([
  ['cpu=100m,memory=64Mi', { nanoCores: 100_000_000, bytes: 67_108_864 }],
  ['memory=1G, cpu=2', { nanoCores: 2_000_000_000, bytes: 1_000_000_000 }],
  ['cpu=0', { nanoCores: 0 }],
  ['cpu=-1', undefined],
  ['cpu=fast', undefined],
  ['disk=1', undefined],
  ['', undefined],
])('NODE-MET-05: the usage %j is %j', (text, expected) => {
  expect(parseUsage(text)).toEqual(expected)
})
