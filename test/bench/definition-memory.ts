/**
 * A gateway's memory per definition: compares a gateway over a storage with definitions and a gateway over an empty storage, by medians of several.
 * Sends `{ unused, used }` in KiB; needs `--expose-gc`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { StorageService } from '@orch/core/contracts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { openPlainGateway } from '../gateway/plain-gateway.ts'
import { median } from './figure.ts'
import { definitions, largeDefinition, largeGroup } from './lines/definition.ts'

const count = 1_000

async function openGateway(storage: StorageService) {
  const { gateway } = openPlainGateway({ storage })
  await gateway.loadDefinitions()
  const { send } = gateway.loopback({ name: 'bench', groups: ['system:masters'] })
  return {
    /** Waits until the gateway knows all definitions. */
    async complete() {
      const answer = await send({ method: 'GET', path: '/apis/none.example.com', headers: {} })
      if (answer.status !== 404) throw new Error(`answered ${answer.status}`)
    },
    async post(path: string, object: object) {
      const answer = await send({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(object) })
      let text = ''
      for await (const chunk of answer.body) text += Buffer.from(chunk).toString()
      if (answer.status !== 201) throw new Error(text)
    },
  }
}

/** Memory after garbage collections, when all work is done. */
async function keptBytes(): Promise<number> {
  for (let round = 0; round < 6; round++) {
    await sleep(300)
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The server writes an APIService after it has acknowledged a definition. Storage must have the APIService first. */
async function settled(storage: StorageService): Promise<void> {
  for (let before = -1; ; ) {
    const { revision } = await storage.status({})
    if (revision === before) return
    before = revision
    await sleep(3_000)
  }
}

/** The memory that one more gateway takes. */
async function gatewayBytes(storage: StorageService) {
  const before = await keptBytes()
  const gateway = await openGateway(storage)
  await gateway.complete()
  // The gateway compresses schemas in the background.
  await sleep(3_000)
  return { gateway, bytes: (await keptBytes()) - before }
}

const rounds = 3
const empty = await createStorage({ store: createMemoryStore() })
const filled = await createStorage({ store: createMemoryStore() })
const writer = await openGateway(filled)
for (let index = 0; index < count; index++) await writer.post(definitions, largeDefinition(index))
await settled(filled)
// The first gateway of each kind also loads code.
const opened = [await gatewayBytes(empty), await gatewayBytes(filled)]
const [withEmpty, withFilled]: [number[], number[]] = [[], []]
for (let round = 0; round < rounds; round++) {
  for (const [storage, bytes] of [
    [empty, withEmpty],
    [filled, withFilled],
  ] as const) {
    const one = await gatewayBytes(storage)
    opened.push(one)
    bytes.push(one.bytes)
  }
}
const unused = (median(withFilled) - median(withEmpty)) / count / 1024
const [, user] = opened
const beforeUse = await keptBytes()
for (let index = 0; index < count; index++) {
  const group = largeGroup(index)
  const object = {
    apiVersion: `${group}/v1`,
    kind: 'Thing',
    metadata: { name: 'a' },
    spec: { part0: { field0: 'a' }, part1: { field1: 'b' } },
  }
  await user?.gateway.post(`/apis/${group}/v1/namespaces/default/things?dryRun=All`, object)
}
const used = unused + ((await keptBytes()) - beforeUse) / count / 1024
process.send?.({ unused, used, gateways: opened.length }, () => process.exit())
