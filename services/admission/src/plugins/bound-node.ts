import { type Attributes, type Entry, objectKey, type StorageService } from '@orch/core/contracts'
import { type BuiltIn, parseStored } from '@orch/core/schema'
import { objectsOf } from './objects.ts'
import type { Pod } from './pod.ts'

export type Node = BuiltIn<'core/v1.Node'>

/** The current node in storage; undefined if absent. Nodes change often, so they are not cached. */
export async function readNode(storage: StorageService, name: string): Promise<Node | undefined> {
  const entry = await readEntry(storage, name)
  return entry && parseStored('core/v1.Node', entry.value)
}

/** The wanted labels that the node has. Most nodes have none, which a search in the bytes shows. */
export async function readNodeLabels(storage: StorageService, name: string, wanted: readonly string[]): Promise<[string, string][]> {
  const entry = await readEntry(storage, name)
  if (entry === undefined) return []
  const { value, metadataStart, metadataEnd } = entry
  const metadata = Buffer.from(value.buffer, value.byteOffset + metadataStart, metadataEnd - metadataStart)
  if (!wanted.some((label) => metadata.includes(`"${label}":`))) return []
  const { labels } = parseStored('core/v1.Node', value).metadata
  return Object.entries(labels ?? {}).filter(([label]) => wanted.includes(label))
}

async function readEntry(storage: StorageService, name: string): Promise<Entry | undefined> {
  return (await storage.get({ key: objectKey('core/nodes', undefined, name), read: { kind: 'latest' } })).entry
}

/** The Pod of an update to the spec of a scheduled Pod; undefined for other requests. */
export function changedOnNode(attributes: Attributes): { readonly pod: Pod; readonly before: Pod } | undefined {
  const { object: pod, oldObject: before } = objectsOf('core/v1.Pod', attributes)
  if (pod === undefined || before === undefined || !pod.spec.nodeName) return undefined
  return pod.metadata.generation === before.metadata.generation ? undefined : { pod, before }
}
