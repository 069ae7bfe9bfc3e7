const { useServer } = require('orch/jest')

const server = useServer({ profile: 'kubernetes' })
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first', namespace: 'default' }, data: { greeting: 'hello' } }
const address = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }

test('a config map is there after it was created', async () => {
  await server.client.objects.create(configMap)
  expect(await server.client.objects.get(configMap)).toMatchObject({ data: { greeting: 'hello' } })
})

test('each test begins without what others have created', async () => {
  expect((await server.client.resource(address).list({ namespace: 'default' })).items).toEqual([])
})

test('a wrong name is refused with the message of kube-apiserver', async () => {
  const wrong = { ...configMap, metadata: { name: 'Not_A_Name', namespace: 'default' } }
  await expect(server.client.objects.create(wrong)).rejects.toThrow('a lowercase RFC 1123 subdomain must consist of')
})
