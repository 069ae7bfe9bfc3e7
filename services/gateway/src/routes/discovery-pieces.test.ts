import { createCatalogue, withGroups } from '@orch/core/catalogue'
import { aggregatedDocument, apiGroupListDocument } from '@orch/core/discovery'
import { expect, test } from 'vitest'
import { aggregatedBytes, groupListBytes } from './discovery.ts'

const base = createCatalogue('orch')
const [pods] = base.inGroupVersion('', 'v1')
const own = (group: string, versions: readonly string[]) => ({
  name: group,
  versions,
  resources: versions.flatMap((version) => (pods === undefined ? [] : [{ ...pods, group, version }])),
})

test('ADDR-17: documents joined from pieces equal documents printed whole, after any changes', () => {
  const one = withGroups(base, [own('a.example.com', ['v1'])])
  const two = withGroups(one, [own('a.example.com', ['v2', 'v1']), own('b.example.com', ['v1'])])
  const three = withGroups(two, [own('a.example.com', [])])
  for (const catalogue of [base, one, two, three]) {
    expect(JSON.parse(Buffer.from(groupListBytes(catalogue)).toString())).toEqual(apiGroupListDocument(catalogue.groups))
    const whole = aggregatedDocument(catalogue, catalogue.groups, (group, name) => catalogue.inGroupVersion(group, name))
    expect(Buffer.from(aggregatedBytes(catalogue)).toString()).toBe(JSON.stringify(whole))
    expect(groupListBytes(catalogue)).toBe(groupListBytes(catalogue))
  }
})
