import { expect, test } from 'vitest'
import type { Field } from '../description/node.ts'
import { placeFinder, visitPlaces } from './field-places.ts'

const named = (...names: readonly string[]) => {
  const asked = new Set<string>()
  const isWanted = (field: Field): field is Field => {
    asked.add(field.name)
    return names.includes(field.name)
  }
  return { asked, finder: placeFinder(isWanted) }
}

function pathsIn(finder: ReturnType<typeof placeFinder>, type: string, value: object): string[] {
  const paths: string[] = []
  const place = finder(type)
  if (place !== undefined) visitPlaces(place, value, (_, fields, path) => paths.push(...fields.map(({ name }) => `${path()}.${name}`)))
  return paths
}

test('wanted fields are found in structs, lists and types that contain themselves', () => {
  const { finder } = named('restartPolicy', 'image', 'description')
  const pod = { spec: { containers: [{ name: 'a' }, { name: 'b' }] } }
  expect(pathsIn(finder, 'core/v1.Pod', pod)).toEqual(['spec.restartPolicy', 'spec.containers[0].image', 'spec.containers[1].image'])
  const schema = { properties: { a: { items: { type: 'string' } } } }
  expect(pathsIn(finder, 'apiextensions/v1.JSONSchemaProps', schema)).toEqual([
    '.description',
    'properties[a].description',
    'properties[a].items.description',
  ])
})

test.each(['core/v1.ConfigMap', 'core/v1.ConfigMap@37'])('metadata of %s is skipped, and nothing else has such members there', (type) => {
  const { asked, finder } = named('ownerReferences')
  expect(finder(type)).toBeUndefined()
  expect([asked.has('metadata'), asked.has('ownerReferences')]).toEqual([true, false])
})

test('the types of members without a value are skipped', () => {
  const { asked, finder } = named('restartPolicy')
  pathsIn(finder, 'core/v1.Pod', { spec: { containers: [{ name: 'a' }] } })
  expect([asked.has('volumes'), asked.has('terminationMessagePath')]).toEqual([true, true])
  expect([asked.has('azureDisk'), asked.has('topologyKey'), asked.has('podIPs')]).toEqual([false, false, false])
  pathsIn(finder, 'core/v1.Pod', { spec: { volumes: [{ name: 'v' }], containers: [] } })
  expect([asked.has('azureDisk'), asked.has('topologyKey')]).toEqual([true, false])
})

test('parts of the live object are skipped', () => {
  const { finder } = named('restartPolicy', 'image')
  const [kept, live] = [{ name: 'a' }, { name: 'b' }]
  const seen: string[] = []
  const visit = (_: unknown, fields: readonly Field[], path: () => string) =>
    void seen.push(...fields.map(({ name }) => `${path()}.${name}`))
  const place = finder('core/v1.Pod')
  const before = { spec: { containers: [kept, live] } }
  if (place !== undefined) visitPlaces(place, { spec: { containers: [kept, { name: 'b' }] } }, visit, before)
  expect(seen).toEqual(['spec.restartPolicy', 'spec.containers[1].image'])
  if (place !== undefined) visitPlaces(place, { spec: before.spec }, visit, before)
  expect(seen).toHaveLength(2)
})
