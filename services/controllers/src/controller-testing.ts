import { createClient, type DiscoveredResource, type Transport, type TransportResponse } from '@orch/client'
import { namesOf } from '@orch/core/names'
import { silentLog } from '@orch/platform'
import { createFakeClock, someQueueMetrics } from '@orch/testkit'
import type { ControllerContext } from './controller.ts'

/** The context of a controller with a server that answers by `send`. */
export function testContext(send: Transport['send'], given: Partial<ControllerContext> = {}): ControllerContext {
  return {
    client: createClient({ send, close() {} }),
    names: namesOf('orch'),
    clock: createFakeClock(),
    random: () => 0,
    log: silentLog,
    queues: someQueueMetrics(),
    signal: new AbortController().signal,
    ...given,
  }
}

/** An answer of the server. */
export function answer(status: number, body: unknown): TransportResponse {
  return { status, headers: {}, body: bytesOf(body) }
}

export async function* bytesOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(JSON.stringify(value))
}

export const configMaps: DiscoveredResource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  namespaced: true,
  kind: 'ConfigMap',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  verbs: [],
}
export const nodes: DiscoveredResource = { ...configMaps, plural: 'nodes', namespaced: false, kind: 'Node' }
