import { type ApiObject, type Attributes, everything, type Interest, type InterestSource, objectKey } from '@orch/core'
import { type Following, follow } from '@orch/platform'
import type { PluginNeeds } from '../plugin.ts'

/** What of one resource a plugin keeps in memory. */
export interface KeptObjects<T> extends Following<T> {
  /** Where an object lies. */
  keyOf(name: string, namespace?: string): string
  /** As storage has it now; before something is refused because memory lacks it. */
  latest(key: string): Promise<T | undefined>
  /** Everything that storage has now, or what lies in one namespace. */
  latestAll(namespace?: string): Promise<T[]>
  /** For `interestSources`: a write to the resource is answered once it is in memory here. */
  source(): InterestSource
  close(): void
}

const decoder = new TextDecoder()

/** What a refusal calls an object. One whose name the server makes up has none before it is complete. */
export function nameIn({ name, object }: Attributes): string {
  if (name !== '') return name
  const { metadata } = (object ?? {}) as Partial<ApiObject>
  return metadata?.name || metadata?.generateName || 'Unknown'
}

/** Stored JSON as plain data. Storage holds nothing but objects that the gateway has checked. */
export function parseStored<T>(value: Uint8Array): T {
  return JSON.parse(decoder.decode(value)) as T
}

/** Keeps a resource of one group in memory, by what `decode` makes of its objects. */
export function keepObjects<T>(
  resource: { readonly group: string; readonly plural: string },
  decode: (value: Uint8Array, key: string) => T,
  { storage, catalogue, clock, log, random }: PluginNeeds,
): KeptObjects<T> {
  const prefix = prefixOf(catalogue, resource)
  const closed = new AbortController()
  const following = follow({ storage, clock, log, random, resource: prefix, decode, signal: closed.signal })
  return {
    ready: following.ready,
    get revision() {
      return following.revision
    },
    get size() {
      return following.size
    },
    get: (key) => following.get(key),
    values: () => following.values(),
    onChange: (listener) => following.onChange(listener),
    keyOf: (name, namespace) => objectKey(prefix, namespace, name),
    async latest(key) {
      const { entry } = await storage.get({ key, read: { kind: 'latest' } })
      return entry === undefined ? undefined : decode(entry.value, key)
    },
    async latestAll(namespace) {
      const scope = namespace === undefined ? { resource: prefix } : { resource: prefix, namespace }
      const found: T[] = []
      const request = { scope, selection: everything, read: { kind: 'latest' }, limit: 0, start: '', form: 'entries' } as const
      for await (const part of storage.list(request)) {
        if (part.kind === 'entries') for (const { value, key } of part.entries) found.push(decode(value, key))
      }
      return found
    },
    source: () => ({ resource: prefix, revision: following.revision }),
    close: () => closed.abort(),
  }
}

function prefixOf({ resources }: PluginNeeds['catalogue'], { group, plural }: { readonly group: string; readonly plural: string }): string {
  const resource = resources.find((one) => one.group === group && one.plural === plural)
  if (resource === undefined) throw new Error(`there is no resource ${plural} in the group ${JSON.stringify(group)}`)
  return resource.stored.prefix
}

/** An interest in all namespaces. */
export function interestIn(phase: string, operations: readonly string[], group: string, resources: readonly string[]): Interest {
  return { phase, operations, groups: [group], resources, namespaces: [] }
}
