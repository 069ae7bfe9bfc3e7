import { createCatalogue } from '@orch/core/catalogue'
import type { Attributes, CallContext } from '@orch/core/contracts'
import { silentLog, systemChance } from '@orch/platform'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { expect, test } from 'vitest'
import { defaultPluginSettings, type Inquiry, type PluginNeeds } from '../plugin.ts'
import { nodeRestriction } from './node-restriction.ts'

const inquiry: Inquiry = {
  reinvocation: { isSecondRound: false, request: () => {}, memory: new Map() },
  context: {} as CallContext,
  explain: false,
  decisionOn: () => undefined,
}

const pod = (labels: Record<string, string> = {}, nodeName = 'n') => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', labels },
  spec: { nodeName },
})

/** The refusal that a node receives; undefined: none. */
async function refusalOf(attributes: Partial<Attributes>, stored?: unknown): Promise<string | undefined> {
  const tiny = createTinyStorage()
  const entry = { key: '', revision: 7, value: Buffer.from(JSON.stringify(stored ?? null)), metadataStart: 0, metadataEnd: 0, writeId: '' }
  const storage: PluginNeeds['storage'] =
    stored === undefined ? tiny : { ...tiny, get: async () => ({ entry, revision: 7, epoch: tiny.epoch }) }
  const plugin = nodeRestriction.create({
    storage,
    catalogue: createCatalogue('orch'),
    clock: createFakeClock(),
    log: silentLog,
    random: () => 0,
    chance: systemChance,
    configuration: undefined,
    settings: defaultPluginSettings,
  })
  const verdict = await plugin.mutate?.(
    {
      operation: 'UPDATE',
      group: '',
      version: 'v1',
      kind: 'Pod',
      resource: 'pods',
      subresource: '',
      namespace: 'team',
      name: 'a',
      object: undefined,
      oldObject: undefined,
      options: {},
      user: { name: 'system:node:n', uid: '', groups: ['system:nodes'], extra: {} },
      dryRun: false,
      requestId: '1',
      writeId: 'w1',
      ...attributes,
    },
    inquiry,
  )
  return verdict?.kind === 'denied' ? verdict.error.status.message : undefined
}

test.each<readonly [string, Partial<Attributes>, unknown, string | undefined]>([
  [
    'labels through the status',
    { subresource: 'status', oldObject: pod(), object: pod({ a: 'b' }) },
    undefined,
    'pods "a" is forbidden: node "n" cannot update labels through pod status',
  ],
  ['a status without other labels', { subresource: 'status', oldObject: pod(), object: pod() }, undefined, undefined],
  ['an eviction of its pod', { operation: 'CREATE', subresource: 'eviction', object: { metadata: {} } }, pod(), undefined],
  [
    'an eviction of a pod elsewhere',
    { operation: 'CREATE', subresource: 'eviction', object: { metadata: {} } },
    pod({}, 'm'),
    'pods "a" is forbidden: node n can only evict pods with spec.nodeName set to itself',
  ],
  ['an eviction of no pod', { operation: 'CREATE', subresource: 'eviction', object: { metadata: {} } }, undefined, 'pods "a" not found'],
  [
    'an eviction without a name',
    { operation: 'CREATE', subresource: 'eviction', name: '', object: { metadata: {} } },
    undefined,
    'pods "Unknown" is forbidden: could not determine pod from request data',
  ],
  [
    'another subresource',
    { operation: 'CREATE', subresource: 'binding', object: {} },
    undefined,
    `pods "a" is forbidden: unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
  ],
])('of a node, %s is judged', async (_title, attributes, stored, message) => {
  expect(await refusalOf(attributes, stored)).toBe(message)
})

test('a user in the group of nodes is none by that alone, nor by the name alone', async () => {
  const attributes = { subresource: 'status', oldObject: pod({}, 'm'), object: pod({}, 'm') }
  const user = { uid: '', extra: {} }
  expect(await refusalOf({ ...attributes, user: { ...user, name: 'ann', groups: ['system:nodes'] } })).toBeUndefined()
  expect(await refusalOf({ ...attributes, user: { ...user, name: 'system:node:n', groups: [] } })).toBeUndefined()
})
