import { createCatalogue } from '@orch/core/catalogue'
import type { AdmissionRule, AdmissionService, StorageService } from '@orch/core/contracts'
import { createMetrics, silentLog, systemChance, systemClock } from '@orch/platform'
import { onTestFinished } from 'vitest'
import { createGateway, createWatchHub, type GatewayOptions, type VersionInfo } from '../../services/gateway/src/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { createWatch, unconverted } from '../../services/watch/src/index.ts'

/** The changes that a test makes in the gateway's storage. */
export type Spoil = (storage: StorageService) => Partial<StorageService>

/** A storage in memory. */
export async function aStorage(): Promise<StorageService> {
  const store = createMemoryStore()
  const storage = await createStorage({ store })
  onTestFinished(async () => {
    storage.close()
    await store.close()
  })
  return storage
}

/** The version that the gateway reports. */
export const ownVersion: VersionInfo = {
  major: '1',
  minor: '25',
  gitVersion: 'v1.25.0',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '',
  goVersion: '',
  compiler: '',
  platform: '',
}

/** A gateway over a storage that misbehaves as the test says: a separate storage, or a storage that several gateways share. */
export async function aGateway(spoil: Spoil = () => ({}), options: Partial<GatewayOptions> = {}, shared?: StorageService) {
  const storage = shared ?? (await aStorage())
  const clock = options.clock ?? systemClock
  const watch = createWatch({ storage, clock, log: silentLog, random: Math.random, convertOf: () => unconverted })
  const watchHub = createWatchHub({ watch, clock, log: silentLog, random: Math.random })
  const spoilt: StorageService = {
    get: (request, context) => storage.get(request, context),
    list: (request, context) => storage.list(request, context),
    commit: (request, context) => storage.commit(request, context),
    changes: (request, context) => storage.changes(request, context),
    getAt: (request, context) => storage.getAt(request, context),
    history: (request, context) => storage.history(request, context),
    revisionAt: (request, context) => storage.revisionAt(request, context),
    status: (request, context) => storage.status(request, context),
    ...spoil(storage),
  }
  const gateway = createGateway({
    catalogue: createCatalogue('orch'),
    storage: spoilt,
    watchHub,
    clock,
    chance: systemChance,
    log: silentLog,
    metrics: createMetrics({ process: false }),
    version: ownVersion,
    ...options,
  })
  onTestFinished(async () => {
    await gateway.close()
    watchHub.close()
    watch.close()
  })
  const { send } = gateway.loopback({ name: 'tester', groups: ['system:masters'] })
  const call = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const headers = { 'content-type': type }
    const response = await send({ method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    let text = ''
    for await (const chunk of response.body) text += Buffer.from(chunk).toString()
    return {
      code: response.status,
      warning: response.headers['warning'],
      body: (text.startsWith('{') ? JSON.parse(text) : { message: text }) as Record<string, unknown> & {
        metadata: { resourceVersion: string }
        data: Record<string, string>
        reason: string
        message: string
      },
    }
  }
  return { call, send, storage, gateway, writeBootstrapObjects: gateway.writeBootstrapObjects, loadDefinitions: gateway.loadDefinitions }
}

/** The path of these tests' ConfigMaps. */
export const collection = '/api/v1/namespaces/default/configmaps'
/** One of these ConfigMaps. */
export const configMap = (data: Record<string, string> = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data })
/** The media type of a merge patch. */
export const merge = 'application/merge-patch+json'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** An admission service that sends its admission rules once and counts its requests. */
export function anAdmission(admissionRules: readonly AdmissionRule[]): Writable<AdmissionService> & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async admit({ phase, attributes }) {
      asked.push(`${phase} ${attributes.operation} ${attributes.resource}`)
      return { kind: 'allowed', warnings: [], auditAnnotations: [], steps: [], counts: [], conditions: [], reservations: [] }
    },
    outcome: async () => ({}),
    admissionRules() {
      const told = [{ kind: 'admissionRules', admissionRules, revision: 1, sources: [] } as const]
      return {
        async *[Symbol.asyncIterator]() {
          yield* told
        },
        close() {},
      }
    },
  }
}

/** The result of an admission that changes nothing. */
export const saidNothing = { warnings: [], auditAnnotations: [], steps: [], counts: [], conditions: [], reservations: [] }
/** An admission rule for every write of a ConfigMap. */
export const allConfigMaps: readonly AdmissionRule[] = [
  { phase: '*', operations: ['*'], groups: [''], resources: ['configmaps'], namespaces: [] },
]
