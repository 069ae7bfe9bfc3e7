import { createCatalogue } from '@orch/core/catalogue'
import { silentLog, TimerWheel } from '@orch/platform'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { Pace } from '../request/pace.ts'
import { CustomResources, specBytes } from './custom-resources.ts'
import { LiveCatalogue } from './live-catalogue.ts'
import { SchemaBudget } from './schema-budget.ts'

const metadata = '"metadata":{"name":"a"}'
const status = { conditions: [{ type: 'Established', status: 'True' }] }
const statusMember = `"status":${JSON.stringify(status)}`
const spec = `{"group":"example.com","status":{"a":1},"words":"},${'"status":{}'.replaceAll('"', '\\"')}"}`

function found(text: string): string {
  const value = Buffer.from(text)
  return Buffer.from(specBytes(JSON.parse(text), { value, metadataEnd: text.indexOf(metadata) + metadata.length })).toString()
}

describe('the spec of a stored object', () => {
  test.each([
    ['behind the metadata and before the status', `{"kind":"A",${metadata},"spec":${spec},${statusMember}}`],
    ['last, without a status', `{"kind":"A",${metadata},"spec":${spec}}`],
    ['last, behind the status', `{"kind":"A",${metadata},${statusMember},"spec":${spec}}`],
    ['before the metadata', `{"kind":"A","spec":${spec},${metadata},${statusMember}}`],
    ['before a member that is not known', `{"kind":"A",${metadata},"spec":${spec},"more":1,${statusMember}}`],
    ['before a status that is written in other words', `{"kind":"A",${metadata},"spec":${spec},"status": {"a":1.0}}`],
  ])('is found in any place: %s', (_, text) => {
    expect(found(text)).toBe(spec)
  })

  test('that has none is refused', () => {
    expect(() => found(`{"kind":"A",${metadata}}`)).toThrow('a stored definition has no spec')
  })
})

test('the kinds of a past state are read in steps, so that others get a turn', async () => {
  const storage = createTinyStorage()
  const resource = 'apiextensions.orch.io/customresourcedefinitions'
  for (let index = 0; index < 25; index++) {
    const names = { plural: `things${index}`, kind: `Thing${index}` }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const object = {
      ...{ apiVersion: 'apiextensions.orch.io/v1', kind: 'CustomResourceDefinition' },
      spec: { group: 'example.com', scope: 'Cluster', names, versions },
      status: { acceptedNames: names, conditions: [{ type: 'Established', status: 'True' }] },
    }
    storage.put({ resource, name: `things${index}.example.com`, object })
  }
  const [clock, pace] = [createFakeClock(), new CountedPace()]
  const catalogue = new LiveCatalogue(createCatalogue('orch', { minor: 37 }))
  const wheel = new TimerWheel({ clock })
  const parts = { storage, catalogue, clock, wheel, pace, log: silentLog, random: () => 0, schemas: new SchemaBudget(1_000_000) }
  const past = await new CustomResources(parts).catalogueAt(25, { timeoutMs: 1_000 })
  expect(past.inGroupVersion('example.com', 'v1')).toHaveLength(25)
  expect(pace.turns).toBe(2)
})

/** Counts its steps. */
class CountedPace extends Pace {
  turns = 0

  override turn(): Promise<void> {
    this.turns += 1
    return super.turn()
  }
}
