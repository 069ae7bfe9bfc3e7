import { type Catalogue, countingOf, resourceCountedBy } from '@orch/core/catalogue'
import { type Entry, everything, type Freshness } from '@orch/core/contracts'
import { parseBytes } from '@orch/core/json'
import type { ApiObject, ResourceName } from '@orch/core/meta'
import { type Amounts, addAmounts, parseAmounts, usageIn } from '@orch/core/quota'
import type { PluginNeeds } from '../plugin.ts'
import type { Count } from './ledger.ts'
import { countedNames, type QuotaObject } from './quota-object.ts'

export interface CountNeeds extends Pick<PluginNeeds, 'storage' | 'catalogue'> {
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** Counts the usage of a quota by the objects of its namespace, all at one revision. `keys` are the objects to report. */
export async function countUse(quota: QuotaObject, keys: ReadonlySet<string>, { storage, catalogue, nowMs }: CountNeeds): Promise<Count> {
  const names = countedNames(quota)
  const hard = parseAmounts(Object.fromEntries([...names].map((name) => [name, '0'])))
  const namespace = quota.metadata.namespace ?? ''
  const objects = new Map<string, { uid: string; revision: number }>()
  let amounts: Amounts = new Map([...hard].filter(([name]) => resourceCountedBy(catalogue.names, name) !== undefined))
  let revision: number | undefined
  for (const resource of resourcesCounted(catalogue, names)) {
    const counting = countingOf(catalogue.names, resource)
    const read: Freshness = revision === undefined ? { kind: 'latest' } : { kind: 'exact', revision, asked: String(revision) }
    const scope = { resource: prefixOf(catalogue, resource), namespace }
    for await (const part of storage.list({ scope, selection: everything, read, limit: 0, start: '', layout: 'entries' })) {
      if (part.kind === 'head') revision ??= part.revision
      if (part.kind !== 'entries') continue
      for (const entry of part.entries) {
        // Resources that are only counted by number need no decoding.
        const object = counting.looksInside ? parseBytes(entry.value) : undefined
        amounts = addAmounts(amounts, usageIn({ spec: quota.spec ?? {}, hard }, counting, object, nowMs))
        if (keys.has(entry.key)) objects.set(entry.key, { uid: uidOf(entry), revision: entry.revision })
      }
    }
  }
  return { revision: revision ?? (await storage.status({})).revision, amounts, objects, startedMs: nowMs }
}

function uidOf(entry: Entry): string {
  const { metadata }: ApiObject = parseBytes(entry.value)
  return metadata.uid ?? ''
}

function resourcesCounted(catalogue: Catalogue, names: ReadonlySet<string>): ResourceName[] {
  const found = new Map<string, ResourceName>()
  for (const name of names) {
    const resource = resourceCountedBy(catalogue.names, name)
    if (resource !== undefined && prefixOf(catalogue, resource) !== '') found.set(`${resource.group}/${resource.resource}`, resource)
  }
  return [...found.values()]
}

/** Prefix of the keys of a resource's objects; '' for an absent or cluster-scoped resource. */
function prefixOf({ resources }: Catalogue, { group, resource }: ResourceName): string {
  const known = resources.find((one) => one.group === group && one.plural === resource && one.isNamespaced)
  // Groups of custom resources are unknown to the catalogue.
  const isCustom = group.includes('.') && !resources.some((one) => one.group === group)
  return known?.stored.prefix ?? (isCustom ? `${group}/${resource}` : '')
}
