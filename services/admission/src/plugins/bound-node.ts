import { type Attributes, objectKey, type StorageService } from '@orch/core/contracts'
import { type BuiltIn, parseStored } from '@orch/core/schema'
import { objectsOf } from './objects.ts'
import type { Pod } from './pod.ts'

export type Node = BuiltIn<'core/v1.Node'>

/** The current node in storage; undefined if absent. Nodes change often, so they are not cached. */
export async function readNode(storage: StorageService, name: string): Promise<Node | undefined> {
  const { entry } = await storage.get({ key: objectKey('core/nodes', undefined, name), read: { kind: 'latest' } })
  return entry === undefined ? undefined : parseStored('core/v1.Node', entry.value)
}

/** The Pod of an update to the spec of a scheduled Pod; undefined for other requests. */
export function changedOnNode(attributes: Attributes): { readonly pod: Pod; readonly before: Pod } | undefined {
  const { object: pod, oldObject: before } = objectsOf('core/v1.Pod', attributes)
  if (pod === undefined || before === undefined || !pod.spec.nodeName) return undefined
  return pod.metadata.generation === before.metadata.generation ? undefined : { pod, before }
}
