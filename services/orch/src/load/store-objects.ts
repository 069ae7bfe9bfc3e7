import { type Client, ManifestError, withoutServerState } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import type { LoadedObject, LoadOutcome, PlacedObject } from '@orch/gateway'
import { messageOf, sleep, systemClock } from '@orch/platform'
import type { Server } from '../server.ts'
import { type DumpedObject, nameOf } from './dumped-object.ts'

/** The server that a dump is loaded into. */
export interface LoadTarget {
  readonly client: Client
  readonly loadObjects: Server['loadObjects']
}

/** An object that could not be stored, or lost fields. */
export interface StoreFinding {
  /** `apps/v1 Deployment default/web` */
  readonly object: string
  /** The object's place in the order, from 0. */
  readonly index: number
  readonly reason: string
}

/** The result of storing the objects of a dump. */
export interface StoreReport {
  readonly loaded: number
  /** Stored objects, by kind. */
  readonly kinds: Readonly<Record<string, number>>
  /** Objects that already existed and stay, by kind. */
  readonly existing: Readonly<Record<string, number>>
  /** Objects of kinds that are not served, by apiVersion and kind; at most 1,000 and `others`. */
  readonly unknown: Readonly<Record<string, number>>
  /** Objects that could not be stored or lost fields; at most 1,000. */
  readonly findings: readonly StoreFinding[]
}

/** The name of an object, and its place in the order. */
type Place = Pick<DumpedObject, 'apiVersion' | 'kind' | 'namespace' | 'name'> & Pick<StoreFinding, 'index'>

/** Stores objects in their order. */
export type StoreObjects = (objects: AsyncIterable<LoadedObject>, options: { readonly keepsExisting: boolean }) => Promise<StoreReport>

/** Stores objects in a server of this process: definitions like a client, all others without admission. */
export function storeIn({ client, loadObjects }: LoadTarget): StoreObjects {
  return async (objects, { keepsExisting }) => {
    const counts = new StoreCounts()
    await loadObjects(afterDefinitions(objects, client, counts), { keepsExisting, onOutcome: counts.add })
    return counts.report()
  }
}

/** The objects other than definitions. Each definition is served before the next object is read. */
async function* afterDefinitions(
  objects: AsyncIterable<LoadedObject>,
  client: Client,
  counts: StoreCounts,
): AsyncGenerator<PlacedObject<Place>, void, undefined> {
  let count = 0
  for await (const { object, hasBigIntegers } of objects) {
    const { apiVersion, kind, metadata } = object
    const place = { apiVersion, kind, namespace: metadata.namespace, name: metadata.name ?? '', index: count++ }
    if (isDefinition(object)) counts.add(place, await loadDefinition(client, object))
    else yield { object, hasBigIntegers, place }
  }
}

/** True for a definition of custom resources. */
export function isDefinition({ kind, apiVersion }: Pick<ApiObject, 'kind' | 'apiVersion'>): boolean {
  return kind === 'CustomResourceDefinition' && apiVersion.startsWith('apiextensions.')
}

/** Creates definitions like a client, because the server sets their names and related rows. */
async function loadDefinition(client: Client, given: ApiObject): Promise<LoadOutcome> {
  const { object } = withoutServerState(given)
  const { apiVersion, kind, metadata } = object
  try {
    const reference = { apiVersion, kind, name: metadata.name ?? '' }
    const applied = await client.objects.patch(reference, object, { type: 'apply', force: true, fieldManager: 'load' })
    await untilServed(client, applied)
    return { kind: 'loaded', problems: [] }
  } catch (error) {
    return { kind: 'refused', reason: messageOf(error) }
  }
}

/** Maximum findings, files without objects, and counted names of one report. */
export const findingsMax = 1_000

/** Counts the results of objects. */
class StoreCounts {
  #loaded = 0
  readonly #kinds: Counts = new Map()
  readonly #existing: Counts = new Map()
  readonly #unknown: Counts = new Map()
  readonly #findings: StoreFinding[] = []

  readonly add = (place: Place, outcome: LoadOutcome): void => {
    const { kind, apiVersion } = place
    switch (outcome.kind) {
      case 'loaded':
        this.#loaded += 1
        count(this.#kinds, kind)
        for (const problem of outcome.problems) this.#find(place, problem)
        break
      case 'unknown':
        count(this.#unknown, `${apiVersion} ${kind}`)
        break
      case 'existing':
        count(this.#existing, kind)
        break
      case 'refused':
        this.#find(place, outcome.reason)
    }
  }

  #find(place: Place, reason: string): void {
    if (this.#findings.length < findingsMax) this.#findings.push({ object: nameOf(place), index: place.index, reason })
  }

  report(): StoreReport {
    const byIndex = (a: StoreFinding, b: StoreFinding) => a.index - b.index
    return {
      loaded: this.#loaded,
      kinds: Object.fromEntries(this.#kinds),
      existing: Object.fromEntries(this.#existing),
      unknown: Object.fromEntries(this.#unknown),
      findings: this.#findings.sort(byIndex),
    }
  }
}

/** Counts by name. */
export type Counts = Map<string, number>

/** Adds to the count of a name. Names beyond the maximum are counted together. */
export function count(counts: Counts, name: string, number = 1): void {
  const counted = counts.has(name) || counts.size < findingsMax ? name : 'others'
  counts.set(counted, (counts.get(counted) ?? 0) + number)
}

/** The longest time until the kind of a definition is served. */
const servedWithinMs = 10_000
const askAgainMs = 10

type Definition = BuiltIn<'apiextensions/v1.CustomResourceDefinition'>

/** Resolves when discovery lists every served version of a definition. Rejects with a ManifestError if a version will never be served. */
export async function untilServed(client: Client, object: ApiObject): Promise<void> {
  const { apiVersion, kind, metadata } = object
  const reference = { apiVersion, kind, name: metadata.name ?? '' }
  const { spec } = await client.objects.get<Definition>(reference)
  const endMs = systemClock.monotonic() + servedWithinMs
  for (const { name: version } of (spec.versions ?? []).filter(({ served }) => served)) {
    while (!(await isServed(client, spec.group, version, spec.names.plural))) {
      if (await isBuiltIn(client, spec.group, apiVersion))
        throw new ManifestError(`${metadata.name}: ${spec.group} is a group of the server itself`)
      const { status } = await client.objects.get<Definition>(reference)
      const refused = status?.conditions?.find((condition) => condition.type === 'NamesAccepted' && condition.status === 'False')
      if (refused !== undefined || systemClock.monotonic() > endMs) {
        throw new ManifestError(`${metadata.name}: version ${version} is not served: ${refused?.message ?? JSON.stringify(status)}`)
      }
      await sleep(systemClock, askAgainMs)
    }
  }
}

async function isServed(client: Client, group: string, version: string, plural: string): Promise<boolean> {
  try {
    return (await client.discover(group, version)).some((found) => found.plural === plural)
  } catch {
    return false
  }
}

type ApiService = BuiltIn<'apiregistration/v1.APIService'>

/** True for a group of the server itself, which serves no definitions in it. `definitions` is the apiVersion of definitions. */
async function isBuiltIn(client: Client, group: string, definitions: string): Promise<boolean> {
  const registration = definitions.replace(/^apiextensions(.*)\/v1$/, 'apiregistration$1')
  const collection = client.resource<ApiService>({ group: registration, version: 'v1', plural: 'apiservices', namespaced: false })
  const { items } = await collection.listAll()
  return items.some(({ spec, metadata: { labels = {} } }) => spec?.group === group && Object.values(labels).includes('onstart'))
}
