import { describe, expect, test } from 'vitest'
import { allTypeNames, resolveType } from '../schema/resolve.ts'

interface Description {
  readonly path: string
  readonly doc: string | undefined
}

/** The descriptions of a type and of its fields. Only structs have descriptions. */
function descriptionsOf(name: string): Description[] {
  const node = resolveType(name)
  if (node.kind !== 'struct') return []
  const fields = node.fields.map((field) => ({ path: `${name}.${field.name}`, doc: field.doc }))
  return [{ path: name, doc: node.doc }, ...fields]
}

const all = allTypeNames().flatMap(descriptionsOf)

describe('descriptions', () => {
  test('exist for every type and every field', () => {
    expect(all.length).toBeGreaterThan(2000)
    expect(all.filter(({ doc }) => !doc).map(({ path }) => path)).toEqual([])
  })

  test('of a field that is inlined in JSON are those of its own type', () => {
    const [mine] = all.filter(({ path }) => path === 'core/v1.Volume.emptyDir')
    const [original] = all.filter(({ path }) => path === 'core/v1.VolumeSource.emptyDir')
    expect(mine?.doc).toBe(original?.doc)
  })

  test('are whole sentences', () => {
    expect(all.filter(({ doc = '' }) => !/^[\p{Lu}\d$*].*\.$/u.test(doc))).toEqual([])
  })

  test('name no product, as they are the same in every profile', () => {
    expect(all.filter(({ doc = '' }) => /kubernetes|\borch\b|k8s/i.test(doc))).toEqual([])
  })
})
