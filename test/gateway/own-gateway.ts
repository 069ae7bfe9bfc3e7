import { createCatalogue } from '@orch/core/catalogue'
import type { AdmissionRule, AdmissionService, StorageService } from '@orch/core/contracts'
import { onTestFinished } from 'vitest'
import type { GatewayOptions } from '../../services/gateway/src/index.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'
import { methodsOf, openPlainGateway } from './plain-gateway.ts'

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

/** A gateway over a storage that misbehaves as the test says: a separate storage, or a storage that several gateways share. */
export async function aGateway(spoil: Spoil = () => ({}), options: Partial<GatewayOptions> = {}, shared?: StorageService) {
  const storage = shared ?? (await aStorage())
  const { gateway, close } = openPlainGateway({ ...options, storage: { ...methodsOf(storage), ...spoil(storage) }, watched: storage })
  onTestFinished(close)
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

/** A gateway at a level with initial events of watches. */
export const withInitialEvents = { catalogue: createCatalogue('orch', { minor: 36, isGateOn: () => true }) } as const

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
