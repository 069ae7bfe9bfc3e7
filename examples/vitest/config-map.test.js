import { test, testWith } from 'orch/vitest'
import { expect } from 'vitest'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first', namespace: 'default' }, data: { greeting: 'hello' } }
const address = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }

test('a config map is there after it was created', async ({ server }) => {
  await server.client.objects.create(configMap)
  expect(await server.client.objects.get(configMap)).toMatchObject({ data: { greeting: 'hello' } })
})

test('each test begins without what others have created', async ({ server }) => {
  expect((await server.client.resource(address).list({ namespace: 'default' })).items).toEqual([])
})

test('a wrong name is refused with the message of kube-apiserver', async ({ server }) => {
  const wrong = { ...configMap, metadata: { name: 'Not_A_Name', namespace: 'default' } }
  await expect(server.client.objects.create(wrong)).rejects.toThrow('a lowercase RFC 1123 subdomain must consist of')
})

const filled = testWith({ profile: 'kubernetes' }, (base) => base.client.objects.create(configMap))

filled.concurrent.for(['hi', 'welcome'])(
  'a test that runs beside others changes a server of its own to %s',
  async (greeting, { server }) => {
    const configMaps = server.client.resource(address)
    await configMaps.patch('first', { data: { greeting } }, { namespace: 'default', type: 'merge' })
    expect(await configMaps.get('first', { namespace: 'default' })).toMatchObject({ data: { greeting } })
  },
)
