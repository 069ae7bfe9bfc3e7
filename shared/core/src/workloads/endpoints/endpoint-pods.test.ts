import { expect, test } from 'vitest'
import { familiesOf, isHeadless, type Service } from './endpoint-pods.ts'
import { mirror } from './mirror.ts'
import { fnv128a } from './subsets.ts'

test.each<[what: string, spec: object, headless: boolean, families: readonly string[]]>([
  ['without an address', {}, true, ['IPv4', 'IPv6']],
  ['with the address None', { clusterIP: 'None' }, true, ['IPv4', 'IPv6']],
  ['with the address None and families', { clusterIP: 'None', ipFamilies: ['IPv6'] }, true, ['IPv6']],
  ['with an address', { clusterIP: '10.0.0.1' }, false, ['IPv4']],
  ['with two families', { clusterIP: 'fd00::1', ipFamilies: ['IPv6', 'IPv4'] }, false, ['IPv6', 'IPv4']],
])('WL-EP-02, WL-EP-05: a Service %s is headless or not, and has slices of its families', (_what, spec, headless, families) => {
  const service = { metadata: {}, spec } as unknown as Service
  expect([isHeadless(service), familiesOf(service)]).toEqual([headless, families])
})

test('WL-EP-40: at most 1,000 addresses of a subset are mirrored, and invalid ones are counted', () => {
  const addresses = Array.from({ length: 1_001 }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }))
  const { groups, ...counts } = mirror([{ addresses: [{ ip: 'web.example' }, ...addresses] }], fnv128a)
  expect(groups.get('IPv4')?.map(({ endpoints }) => endpoints.length)).toEqual([1_000])
  expect(counts).toEqual({ invalidCount: 1, skippedCount: 2 })
})
