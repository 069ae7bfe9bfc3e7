import type { Client } from '@orch/client'
import { withoutServerState } from '@orch/client'
import { isJsonObject } from '@orch/core/json'
import { type ApiObject, parseRevision } from '@orch/core/meta'
import type { Gateway, LoadOutcome } from '@orch/gateway'
import { SettingsError } from '@orch/platform'
import { type DumpedObject, readDump } from './dump-files.ts'
import { untilServed } from './install.ts'

/** Options of a load. */
export interface LoadOptions {
  /** Kinds that are left out beside those of every load, such as `Pod`. */
  readonly skip?: readonly string[]
  /** `redact` replaces the values of Secrets by the word `redacted`. */
  readonly secrets?: 'redact'
  /** Objects of kinds that the server does not serve: `skip` by default; `error` rejects before anything is stored. */
  readonly unknown?: 'error' | 'skip'
  /** Objects that are there already, by name: `replace` by default. */
  readonly existing?: 'keep' | 'replace'
}

/** An object that was not stored as it is in the dump. */
interface LoadFinding {
  /** `apps/v1 Deployment default/web` */
  readonly object: string
  readonly file: string
  readonly reason: string
}

/** The end of a load. */
export interface LoadReport {
  readonly loaded: number
  /** Loaded objects, by kind. */
  readonly kinds: Readonly<Record<string, number>>
  /** Objects that were left out on purpose, by kind. */
  readonly skipped: Readonly<Record<string, number>>
  /** Objects of kinds that are not served, by apiVersion and kind. */
  readonly unknown: Readonly<Record<string, number>>
  /** Objects that could not be stored, and those that lost fields; 1,000 at most. */
  readonly findings: readonly LoadFinding[]
  /** Files without objects. */
  readonly unread: readonly { readonly file: string; readonly reason: string }[]
}

/** The server that a dump is loaded into. */
export interface LoadTarget {
  readonly client: Client
  readonly loadObjects: Gateway['loadObjects']
}

/** Kinds that a running cluster makes again and again, and the rows of this server's own groups. */
const skippedKinds: readonly string[] = ['Event', 'Lease', 'Endpoints', 'EndpointSlice', 'APIService', 'ComponentStatus']

const findingsMax = 1_000

/** Members of the options, for callers without a compiler. */
const members: ReadonlySet<string> = new Set(['skip', 'secrets', 'unknown', 'existing'])

/**
 * Loads the objects of dumps into a server: definitions first, as a client would create them; then all others as they are, below admission
 * and in the order of their old resourceVersions. resourceVersions are new.
 */
export async function load(paths: readonly string[], options: LoadOptions, { client, loadObjects }: LoadTarget): Promise<LoadReport> {
  const wrong = Object.keys(options).find((name) => !members.has(name))
  if (wrong !== undefined) throw new SettingsError(`load(): unknown option ${wrong}: expected ${[...members].join(', ')}`)
  const { objects, unread } = await readDump(paths)
  const counts = new LoadCounts()
  const wanted = newestOf(objects).filter(({ object }) => !counts.skips(object, options.skip ?? []))
  for (const dumped of wanted.filter(isDefinition)) counts.add(dumped, await loadDefinition(client, dumped.object))
  const others = wanted.filter((dumped) => !isDefinition(dumped)).sort(byRevision)
  if (options.unknown === 'error') await refuseUnknown(client, others)
  const shown = others.map(({ object }) => (options.secrets === 'redact' ? withoutValues(object) : object))
  const outcomes = await loadObjects(shown, { keepsExisting: options.existing === 'keep' })
  for (const [index, dumped] of others.entries()) counts.add(dumped, outcomes[index] ?? { kind: 'unknown' })
  return { ...counts.report(), unread }
}

/** Counts what becomes of objects. */
class LoadCounts {
  #loaded = 0
  readonly #kinds: Record<string, number> = {}
  readonly #skipped: Record<string, number> = {}
  readonly #unknown: Record<string, number> = {}
  readonly #findings: LoadFinding[] = []

  /** True for an object that is left out, which is counted. */
  skips(object: ApiObject, more: readonly string[]): boolean {
    const { kind } = object
    const isSkipped = skippedKinds.includes(kind) || more.includes(kind) || isTokenSecret(object)
    if (isSkipped) count(this.#skipped, kind)
    return isSkipped
  }

  add({ object, file }: DumpedObject, outcome: LoadOutcome): void {
    switch (outcome.kind) {
      case 'loaded':
        this.#loaded += 1
        count(this.#kinds, object.kind)
        for (const problem of outcome.problems) this.#find(object, file, problem)
        break
      case 'unknown':
        count(this.#unknown, `${object.apiVersion} ${object.kind}`)
        break
      case 'existing':
        count(this.#skipped, object.kind)
        break
      case 'refused':
        this.#find(object, file, outcome.reason)
    }
  }

  #find(object: ApiObject, file: string, reason: string): void {
    if (this.#findings.length < findingsMax) this.#findings.push({ object: nameOf(object), file, reason })
  }

  report(): Omit<LoadReport, 'unread'> {
    return { loaded: this.#loaded, kinds: this.#kinds, skipped: this.#skipped, unknown: this.#unknown, findings: this.#findings }
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

function nameOf({ apiVersion, kind, metadata: { namespace, name = '' } }: ApiObject): string {
  return `${apiVersion} ${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
}

/** Dumps may have an object several times, in several files: the newest counts. */
function newestOf(objects: readonly DumpedObject[]): DumpedObject[] {
  const newest = new Map<string, DumpedObject>()
  for (const dumped of objects) {
    const name = nameOf(dumped.object)
    const known = newest.get(name)
    if (known === undefined || byRevision(known, dumped) <= 0) newest.set(name, dumped)
  }
  return [...newest.values()]
}

function byRevision(a: DumpedObject, b: DumpedObject): number {
  return revisionOf(a) - revisionOf(b)
}

function revisionOf({ object }: DumpedObject): number {
  return parseRevision(object.metadata.resourceVersion ?? '') ?? 0
}

function isDefinition({ object: { kind, apiVersion } }: DumpedObject): boolean {
  return kind === 'CustomResourceDefinition' && apiVersion.startsWith('apiextensions.')
}

/** Definitions have names and rows that the server settles, so they are created as by a client. */
async function loadDefinition(client: Client, given: ApiObject): Promise<LoadOutcome> {
  const { object } = withoutServerState(given)
  const { apiVersion, kind, metadata } = object
  try {
    const reference = { apiVersion, kind, name: metadata.name ?? '' }
    const applied = await client.objects.patch(reference, object, { type: 'apply', force: true, fieldManager: 'load' })
    await untilServed(client, applied)
    return { kind: 'loaded', problems: [] }
  } catch (error) {
    return { kind: 'refused', reason: error instanceof Error ? error.message : String(error) }
  }
}

async function refuseUnknown(client: Client, dumped: readonly DumpedObject[]): Promise<void> {
  const { resources } = await client.discoverVersions()
  const served = new Set(resources.map(({ group, version, kind }) => `${group === '' ? version : `${group}/${version}`} ${kind}`))
  const first = dumped.find(({ object: { apiVersion, kind } }) => !served.has(`${apiVersion} ${kind}`))
  if (first !== undefined) throw new Error(`${first.file}: ${nameOf(first.object)}: its kind is not served, and nothing has been loaded`)
}

function isTokenSecret({ kind, ...rest }: ApiObject): boolean {
  const members: Readonly<Record<string, unknown>> = rest
  return kind === 'Secret' && String(members['type']).endsWith('/service-account-token')
}

function withoutValues(object: ApiObject): ApiObject {
  if (object.kind !== 'Secret') return object
  const members: Readonly<Record<string, unknown>> = object
  const { data } = members
  if (!isJsonObject(data)) return object
  const redacted = Buffer.from('redacted').toString('base64')
  return { ...object, data: Object.fromEntries(Object.keys(data).map((key) => [key, redacted])) }
}
