import { describe, expect, test } from 'vitest'
import { aName, configMap, created, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi()

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'

describe('resourceVersions', () => {
  test('MACH-READ-08: lists of all kinds share one counter, and a later write has the larger number', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const namespace = path.split('/').at(-2)
    const secrets = `/api/v1/namespaces/${namespace}/secrets`
    const versions = [(await server.api.get(path)).body.metadata.resourceVersion]
    versions.push((await created(server.api, secrets, { metadata: { name: 's' } })).metadata.resourceVersion)
    versions.push((await created(server.api, path, configMap({ name: 'b' }))).metadata.resourceVersion)
    versions.push((await server.api.get(secrets)).body.metadata.resourceVersion)
    const numbers = versions.map(Number)
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other))
    expect(new Set(numbers.slice(0, 3)).size).toBe(3)
    const exact = `${path}?resourceVersion=${versions[0]}&resourceVersionMatch=Exact`
    expect((await server.api.get(exact)).body.items.map(({ metadata }) => metadata.name)).toEqual(['a'])
  })
})

describe('applies', () => {
  const apply = (path: string, manager: string, body: object) =>
    server.api.send('PATCH', `${path}?fieldManager=${manager}`, { body, headers: { 'content-type': 'application/apply-patch+yaml' } })
  const managersOf = (metadata: object) =>
    ((metadata as { managedFields?: { manager: string }[] }).managedFields ?? []).map((one) => one.manager)

  test('MACH-SSA-01: that set nothing leave no manager', async () => {
    const path = `${await someConfigMaps(server.api, 'a')}/a`
    const nothing = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    const before = managersOf((await server.api.get(path)).body.metadata)
    expect((await apply(path, 'idle', nothing)).status).toBe(200)
    expect(managersOf((await server.api.get(path)).body.metadata)).toEqual(before)
    await apply(path, 'idle', { ...nothing, data: { x: '1' } })
    expect(managersOf((await server.api.get(path)).body.metadata)).toEqual(expect.arrayContaining(['idle']))
    await apply(path, 'idle', nothing)
    expect(managersOf((await server.api.get(path)).body.metadata)).toEqual(before)
  })

  test('MACH-WRITE-12: that name an owner twice are refused', async () => {
    const path = `${await someConfigMaps(server.api, 'a')}/a`
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'n', uid: '1' }
    const twice = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ownerReferences: [owner, owner] } }
    const { status, body } = await apply(path, 'm', twice)
    expect([status, body['message']]).toEqual([400, expect.stringContaining('duplicate entries for key [uid="1"]')])
  })
})

describe('definitions', () => {
  test('MACH-CRD-04: keep storedVersions from a status patch unchanged, and replace an empty list with the storage version', async () => {
    const group = `${aName('g')}.example.com`
    const path = `${definitions}/xs.${group}`
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
    const spec = { group, names: { plural: 'xs', kind: 'X' }, scope: 'Namespaced', versions: [version] }
    await created(server.api, definitions, { metadata: { name: `xs.${group}` }, spec })
    const stored = async (storedVersions: readonly string[]) => {
      const { status, body } = await server.api.patch(`${path}/status`, { status: { storedVersions } })
      return [status, (body['status'] as { storedVersions: string[] }).storedVersions]
    }
    expect(await stored(['v9'])).toEqual([200, ['v9']])
    expect(await stored([])).toEqual([200, ['v1']])
  })
})

describe('policies', () => {
  test('MACH-POL-01: may refuse only with the reasons Forbidden, Invalid and RequestEntityTooLarge', async () => {
    const path = '/apis/admissionregistration.orch.io/v1/validatingadmissionpolicies?dryRun=All'
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
    const withReason = (reason: string) =>
      server.api.post(path, {
        metadata: { name: aName('p') },
        spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true', reason }] },
      })
    for (const reason of ['Forbidden', 'Invalid', 'RequestEntityTooLarge']) expect((await withReason(reason)).status).toBe(201)
    const { status, body } = await withReason('Unauthorized')
    expect([status, body['message']]).toEqual([
      422,
      expect.stringContaining('spec.validations[0].reason: Unsupported value: "Unauthorized"'),
    ])
  })
})
