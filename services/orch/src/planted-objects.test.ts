import type { ApiObject } from '@orch/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { start } from './start.ts'

const rbac = { group: 'rbac.authorization.orch.io', version: 'v1' }
const flow = { group: 'flowcontrol.apiserver.orch.io', version: 'v1beta2', namespaced: false }
const collections = [
  { group: '', version: 'v1', plural: 'namespaces', namespaced: false },
  { group: 'scheduling.orch.io', version: 'v1', plural: 'priorityclasses', namespaced: false },
  { ...flow, plural: 'flowschemas' },
  { ...flow, plural: 'prioritylevelconfigurations' },
  { ...rbac, plural: 'clusterroles', namespaced: false },
  { ...rbac, plural: 'clusterrolebindings', namespaced: false },
  { ...rbac, plural: 'roles', namespaced: true },
  { ...rbac, plural: 'rolebindings', namespaced: true },
]

/** What differs between any two objects made one after the other. */
function comparable({ metadata, ...rest }: ApiObject) {
  const { name: _name, uid: _uid, resourceVersion: _version, creationTimestamp: _created, ...others } = metadata
  const labels = { ...others.labels, 'orch.io/metadata.name': '' }
  return { ...rest, metadata: { ...others, labels, managedFields: others.managedFields?.map((entry) => ({ ...entry, time: '' })) } }
}

test('META-01, META-03, SSA-17: objects of the start are what a POST of the server would have made of them', async () => {
  const { client, stop } = await start({ controllers: [] })
  onTestFinished(stop)
  let compared = 0
  for (const address of collections) {
    const collection = client.resource(address)
    for (const planted of (await collection.listAll()).items) {
      const { name, namespace, labels, annotations } = planted.metadata
      // Some names may be had by these objects alone; a namespace would not go at once.
      const isNamespace = planted.kind === 'Namespace'
      if (!isNamespace) await collection.delete(name ?? '', { namespace })
      const body = { ...planted, metadata: { name: isNamespace ? `${name}-again` : name, namespace, labels, annotations } }
      const options = { dryRun: true, fieldManager: 'orch-apiserver', fieldValidation: 'Strict' } as const
      const made = await collection.create(body, { ...options, namespace })
      expect(comparable(made)).toEqual(comparable(planted))
      compared += 1
    }
  }
  expect(compared).toBeGreaterThan(100)
})

test('SSA-17: what the server and its controllers write is theirs by name', async () => {
  const { client, stop } = await start({ controllers: ['*'] })
  onTestFinished(stop)
  const managerOf = ({ metadata }: ApiObject) => metadata.managedFields?.[0]?.manager
  const own = await client
    .resource({ group: '', version: 'v1', plural: 'services', namespaced: true })
    .get('orch', { namespace: 'default' })
  expect(managerOf(own)).toBe('orch-apiserver')
  const maps = client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const root = await vi.waitFor(() => maps.get('orch-root-ca.crt', { namespace: 'default' }), { timeout: 10_000 })
  expect(managerOf(root)).toBe('orch-controller-manager')
})
