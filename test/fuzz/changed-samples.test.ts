import { createCatalogue } from '@orch/core/catalogue'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { completed, fieldsOf, unknownFields } from '../../shared/core/src/catalogue/testing/random-testing.ts'
import { sampleFields } from '../api/sample-objects.ts'

const runs = { numRuns: 60, seed: 20_220_823 }

/** A valid object of each stored kind, by type. */
const samples = createCatalogue('orch').resources.flatMap(({ type, kind, apiVersion, isNamespaced }) => {
  const fields = sampleFields(kind, apiVersion, { domain: 'orch.io', namespace: 'default' })
  const metadata = { name: nameOf(kind, fields?.['spec']), ...(isNamespaced ? { namespace: 'default' } : {}) }
  return fields === undefined ? [] : [{ type, body: { apiVersion, kind, metadata, ...fields } as Body }]
})

/** Definitions have the names of their kinds. */
function nameOf(kind: string, spec: unknown): string {
  const { group, version, names } = (spec ?? {}) as { group?: string; version?: string; names?: { plural: string } }
  if (kind === 'APIService') return `${version}.${group}`
  return kind === 'CustomResourceDefinition' ? `${names?.plural}.${group}` : 'a'
}

type Body = Record<string, unknown>
/** A member of an object, or an item of a list. */
interface Place {
  readonly holder: Body | unknown[]
  readonly key: string | number
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Body | unknown[]
  const keys = Array.isArray(holder) ? [...holder.keys()] : Object.keys(holder)
  return keys.flatMap((key) => [{ holder, key }, ...placesIn((holder as Body)[key])])
}

const put =
  (value: unknown) =>
  ({ holder, key }: Place): void => {
    Object.assign(holder, { [key]: structuredClone(value) })
  }

/** The possible changes of one place in an object. */
const changes: readonly ((place: Place) => void)[] = [
  ({ holder, key }) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key]
  },
  ({ holder, key }) => {
    if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]))
    else holder[`${key}x`] = structuredClone(holder[key])
  },
  ({ holder, key }) => {
    const value = (holder as Body)[key]
    put(Array.isArray(value) ? [] : typeof value === 'object' ? {} : typeof value === 'string' ? '' : 0)({ holder, key })
  },
  ...[null, '', 'x'.repeat(100_000), 'A b/c_D..\n\u0000\ud83d\ude00', '-1', '1e99Gi', '0.0001', '%', '../..', '10.0.0.1/33'].map(put),
  ...[-1, 0, 1, 65_536, 2_147_483_648, Number.MAX_SAFE_INTEGER, 1.5, true, false, [], {}, [null], [''], [{}], { '': '' }].map(put),
]

/** Fields that the server fills in before it validates the object. */
const filledIn = ['spec.selector', 'spec.template.metadata.labels', 'status.storedVersions']

test.each(samples)('a valid $type is found valid', ({ type, body }) => {
  const fields = fieldsOf(type, completed(type, body) ?? {}, 'main')
  expect(
    type === 'batch/v1.Job' || type.endsWith('CustomResourceDefinition') ? fields.filter((field) => !filledIn.includes(field)) : fields,
  ).toEqual([])
})

test.each(samples)(
  'a $type with a change in one place gets errors only with a field, and none for an unchanged update',
  ({ type, body }) => {
    const live = completed(type, body) ?? {}
    const count = placesIn(live).length
    const property = fc.property(fc.nat(count - 1), fc.nat(changes.length - 1), (place, change) => {
      const changed = structuredClone(live)
      changes[change]?.(placesIn(changed)[place] as Place)
      const object = completed(type, changed)
      if (object === undefined) return
      expect(completed(type, object)).toEqual(object)
      for (const part of ['main', 'status'] as const) {
        const fields = fieldsOf(type, object, part)
        expect(unknownFields(type, fields)).toEqual([])
        expect(fieldsOf(type, object, part, object).filter((field) => !fields.includes(field))).toEqual([])
        expect(unknownFields(type, fieldsOf(type, object, part, live))).toEqual([])
      }
    })
    fc.assert(property, runs)
  },
)
