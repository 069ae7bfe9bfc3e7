import type { StorageService } from '@orch/core/contracts'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { aGateway, aStorage, type Spoil, withInitialEvents } from './own-gateway.ts'

const prefix = 'apiextensions.orch.io/customresourcedefinitions'
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const name = 'widgets.example.com'
const aggregated = { accept: 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList' }
const definition = {
  apiVersion: 'apiextensions.orch.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** The changes of definitions arrive when the gate opens. */
function behind(gate: Promise<void>): Spoil {
  return (storage: StorageService) => ({
    changes: (request, context) => {
      const changes = storage.changes(request, context)
      if (!request.resources.includes(prefix)) return changes
      const late = (async function* () {
        for await (const part of changes) {
          await gate
          yield part
        }
      })()
      return Object.assign(late, { close: () => changes.close() })
    },
  })
}

/** Two gateways of one storage. The test decides when the second hears of a definition that the first has acknowledged. */
async function aGatewayBehind() {
  const storage = await aStorage()
  const gate = Promise.withResolvers<void>()
  const first = await aGateway(undefined, withInitialEvents, storage)
  const second = await aGateway(behind(gate.promise), { ...withInitialEvents, clock: createFakeClock() }, storage)
  await Promise.all([first.loadDefinitions(), second.loadDefinitions()])
  const { code, body } = await first.call('POST', definitions, definition)
  expect(code).toBe(201)
  const read = async (path: string, until = '\0', headers: Record<string, string> = {}) => {
    const answer = await second.send({ method: 'GET', path, headers })
    let text = ''
    for await (const chunk of answer.body) {
      text += Buffer.from(chunk).toString()
      if (text.includes(until)) break
    }
    return text
  }
  return { read, catchUp: () => gate.resolve(), created: body.metadata.resourceVersion }
}

const established = '"type":"Established","status":"True"'
const shown: readonly [string, (created: string) => string][] = [
  ['a get', () => `${definitions}/${name}`],
  ['a get of the status', () => `${definitions}/${name}/status`],
  ['a list', () => definitions],
  ['the initial state of a watch', () => `${definitions}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`],
  ['an event of a watch', (created) => `${definitions}?watch=true&resourceVersion=${Number(created) - 1}`],
]

test.each(shown)(
  'CRD-70: aggregated discovery has the definitions that %s of the same gateway has shown as established',
  async (_, pathOf) => {
    const { read, catchUp, created } = await aGatewayBehind()
    expect(await read(pathOf(created), established)).toContain(established)
    const discovery = read('/apis', '\0', aggregated)
    await new Promise((resolve) => setImmediate(resolve))
    catchUp()
    expect(await discovery).toContain('"name":"example.com"')
  },
)

test.each(['/apis', '/apis/example.com', '/apis/example.com/v1', '/'])(
  '%s also has the established definitions that were shown',
  async (path) => {
    const { read, catchUp } = await aGatewayBehind()
    expect(await read(`${definitions}/${name}`)).toContain(established)
    const document = read(path)
    await new Promise((resolve) => setImmediate(resolve))
    catchUp()
    expect(await document).toContain('example.com/v1')
  },
)

test('discovery does not wait for a definition that no client of the gateway has seen', async () => {
  const { read } = await aGatewayBehind()
  expect(await read('/apis', '\0', aggregated)).not.toContain('"name":"example.com"')
})
