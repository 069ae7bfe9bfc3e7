import { type Client, createClient, createHttpsTransport } from '@orch/client'
import { freezeDeeply } from '@orch/core/json'
import { certificateMemory, silentLog, systemChance } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { createFakeClock } from '@orch/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Server, startServer } from '../server.ts'
import { readServer } from '../settings/up.ts'
import { readStartSettings } from '../start/start-settings.ts'

let server: Server
/** Two clients of one user: in the process of the server, and over a socket. */
let near: Client
let far: Client

beforeAll(async () => {
  const settings = readStartSettings({ profile: 'kubernetes', controllers: [] })
  server = await startServer({
    ...readServer(settings),
    store: createMemoryStore(),
    certificateFiles: certificateMemory(),
    clock: createFakeClock(),
    chance: systemChance,
    log: silentLog,
  })
  near = server.clientAs({ name: 'tester', groups: ['system:masters'] })
  far = createClient(createHttpsTransport(server.configuration))
})

afterAll(async () => {
  far.close()
  await server.stop({ delayMs: 0, graceMs: 0 })
})

const sets = (client: Client) => client.resource({ group: 'apps', version: 'v1', plural: 'replicasets', namespaced: true })

const labels: Record<string, string> = { b: '1', a: '2' }
const aSet = (name: string) => ({
  spec: {
    template: {
      spec: { containers: [{ image: 'i', name: 'c', resources: { limits: { memory: '1024Mi', cpu: '1000m' } } }], nodeName: undefined },
      metadata: { labels, annotations: { none: undefined } },
    },
    selector: { matchLabels: labels },
    replicas: 0,
    unknown: [{ a: 1 }],
  },
  metadata: { name, namespace: 'default', labels, annotations: { note: '😀' } },
  kind: 'ReplicaSet',
  apiVersion: 'apps/v1',
})

/** The stored text without name, uid, resourceVersion and managers, which differ between objects with equal contents. */
async function textOf(name: string): Promise<string> {
  const response = await far.transport.send({ method: 'GET', path: `/apis/apps/v1/namespaces/default/replicasets/${name}`, headers: {} })
  const pieces: Uint8Array[] = []
  for await (const piece of response.body) pieces.push(piece)
  const text = Buffer.concat(pieces).toString()
  return text
    .replaceAll(name, 'NAME')
    .replace(/"uid":"[^"]*","resourceVersion":"\d+"/, '')
    .replace(/"manager":"[^"]*"/g, '')
}

test('an object from a client in this process is stored as the same bytes as an object over a socket, when it is created and when it changes', async () => {
  const userAgents = new Set<string>()
  for (const [name, client] of [
    ['near', near],
    ['far', far],
  ] as const) {
    const created = await sets(client).create(aSet(name))
    userAgents.add(created.metadata.managedFields?.[0]?.manager ?? '')
    const status = { availableReplicas: undefined, replicas: 1, conditions: [{ type: 'A', status: 'True' }] }
    const changed = await sets(client).update({ ...created, status }, { subresource: 'status' })
    await sets(client).unanswered.update({ ...changed, metadata: { ...changed.metadata, labels: { z: '1', ...labels } } })
  }
  expect(await textOf('near')).toBe(await textOf('far'))
  expect(userAgents.size).toBe(2)
})

test('a client in this process may pass a frozen object; an object that it passes is not frozen, and later changes of it have no effect', async () => {
  const own = aSet('own')
  const frozen: ReturnType<typeof aSet> = freezeDeeply(JSON.parse(JSON.stringify(aSet('frozen'))))
  const creating = sets(near).create(own)
  own.metadata.labels = { changed: 'too late' }
  own.spec.template.spec.containers.length = 0
  const [created] = [await creating, await sets(near).create(frozen)]
  expect([created.metadata.labels, Object.isFrozen(own.spec), Object.isFrozen(labels)]).toEqual([{ a: '2', b: '1' }, false, false])
  expect(await textOf('own')).toBe(await textOf('frozen'))
  const { kind: _kind, apiVersion: _apiVersion, ...bare } = JSON.parse(JSON.stringify(aSet('bare')))
  await near.request({ method: 'POST', path: '/apis/apps/v1/namespaces/default/replicasets', body: freezeDeeply(bare) })
  expect(await textOf('bare')).toBe(await textOf('frozen'))
})

test('a wrong value from a client in this process gets the same refusal as over a socket', async () => {
  const refusals = [near, far].map((client) =>
    [
      { ...aSet('wrong'), spec: { replicas: 'many' } },
      { ...aSet('wrong'), kind: 'Deployment' },
      { ...aSet('wrong'), metadata: { name: 'wrong', labels: { date: new Date(0) } } },
      { ...aSet('wrong'), metadata: [] },
      null,
    ].map((object) => client.request({ method: 'POST', path: '/apis/apps/v1/namespaces/default/replicasets', body: object }).catch(String)),
  )
  const [ofNear, ofFar] = await Promise.all(refusals.map((texts) => Promise.all(texts)))
  expect(ofNear).toEqual(ofFar)
})
