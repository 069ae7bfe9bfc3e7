const { matchers, useForks } = require('orch/jest')

expect.extend(matchers)

const withServer = useForks({ profile: 'kubernetes' })
const place = { name: 'first', namespace: 'default' }
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: place }

test(
  'a test that leaves nothing has no leaks',
  withServer(async (server) => {
    await server.client.objects.create(configMap)
    await expect(server).toHaveNoLeaks()
  }),
)

test(
  'an object that a finalizer holds is a leak',
  withServer(async (server) => {
    await server.client.objects.create({ ...configMap, metadata: { ...place, finalizers: ['example.com/hold'] } })
    await server.client.objects.delete({ ...configMap, ...place })
    await expect(expect(server).toHaveNoLeaks()).rejects.toThrow('ConfigMap default/first is being deleted, and held by example.com/hold')
  }),
)

test(
  'a client that writes without a change is in a hot loop',
  withServer(async (server) => {
    const { client } = server.user('hot')
    await client.objects.create(configMap)
    const hot = expect(expect(server).toHaveNoHotLoop({ for: '500ms' })).rejects.toThrow('without a change')
    for (let time = 0; time < 5; time += 1) await client.objects.patch({ ...configMap, ...place }, { data: {} }, { type: 'merge' })
    await hot
  }),
)
