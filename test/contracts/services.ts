import { createCatalogue } from '@orch/core/catalogue'
import { admissionContract, type MetricsPart, type NodesService, nodesContract, storageContract, watchContract } from '@orch/core/contracts'
import { internal, notFound } from '@orch/core/meta'
import { failedStream, PushStream, silentLog, systemChance, systemClock } from '@orch/platform'
import type { OpenedServices } from '@orch/testkit'
import { createAdmission } from '../../services/admission/src/index.ts'
import { type Program, Sessions } from '../../services/nodes/src/sessions.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createWatch, unconverted } from '../../services/watch/src/index.ts'

/** All contracts between services. */
export const contracts = { storage: storageContract, watch: watchContract, admission: admissionContract, nodes: nodesContract }

/** Storage on a memory store, with watch and admission on that storage. */
export async function openServices(): Promise<OpenedServices<typeof contracts>> {
  const store = createMemoryStore()
  const storage = await createStorage({ store })
  const watch = createWatch({ storage, clock: systemClock, log: silentLog, random: Math.random, convertOf: () => unconverted })
  const admission = createAdmission({
    storage,
    catalogue: createCatalogue('orch'),
    clock: systemClock,
    log: silentLog,
    random: Math.random,
    chance: systemChance,
  })
  return {
    services: { storage, watch, admission, nodes: createNodes() },
    async close() {
      admission.close()
      watch.close()
      storage.close()
      await store.close()
    },
  }
}

/** Commands of a container. A forwarded port also echoes. */
const programs: Readonly<Record<string, (...words: readonly string[]) => Program>> = {
  cat: () => async (session) => {
    for await (const input of session.input) if (input.kind === 'stdin') await session.write({ kind: 'stdout', bytes: input.bytes })
    return 0
  },
  exit: (code) => async () => Number(code),
  yes: () => async (session) => {
    while (!session.signal.aborted) await session.write({ kind: 'stdout', bytes: new Uint8Array(64 * 1024) })
    return 0
  },
  fail: () => async () => {
    throw internal('cannot run fail')
  },
}

/** The node `n`. */
function createNodes(): NodesService {
  const sessions = new Sessions({ newName: systemChance.uuid })
  const requireNode = (node: string) => {
    if (node !== 'n') throw notFound({ group: '', resource: 'nodes' }, node)
  }
  const run = (node: string, [command = '', ...words]: readonly string[]) =>
    sessions.open(() => {
      requireNode(node)
      const program = (programs[command] as (typeof programs)[string])(...words)
      return (session) => {
        session.opened()
        return program(session)
      }
    })
  return {
    logs: ({ pod }) => failedStream(notFound({ group: '', resource: 'nodes' }, pod.node)),
    exec: ({ pod, command }) => run(pod.node, command),
    attach: ({ pod }) => run(pod.node, ['cat']),
    forward: ({ pod }) => run(pod?.node ?? '', ['cat']),
    input: (request) => sessions.input(request),
    metrics: (request) => {
      const parts = new PushStream<MetricsPart>()
      for (const name of ['a', 'b']) parts.push({ objects: [Buffer.from(JSON.stringify({ ...request, name }))] })
      parts.end()
      return parts
    },
    async request({ node }) {
      requireNode(node)
      return { status: 200, contentType: 'text/plain', body: Buffer.from('ok') }
    },
  }
}
