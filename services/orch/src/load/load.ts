import { type Client, ManifestError, UnsentError } from '@orch/client'
import { isJsonObject } from '@orch/core/json'
import { type ApiObject, StatusError, withoutSecretValues } from '@orch/core/meta'
import type { LoadedObject } from '@orch/gateway'
import { pauses, SettingsError } from '@orch/platform'
import { StartError } from '../process/terminal.ts'
import { type Dump, readDump } from './dump.ts'
import { type DumpedObject, nameOf } from './dumped-object.ts'
import { type Counts, count, findingsMax, isDefinition, type StoreFinding, type StoreObjects, type StoreReport } from './store-objects.ts'

export interface LoadOptions {
  /** Kinds that are left out in addition to those of every load, such as `Pod`. */
  readonly skip?: readonly string[]
  /** `redact` replaces the values of Secrets by the word `redacted`. */
  readonly secrets?: 'redact'
  /** Objects of kinds that the server does not serve: `skip` by default; `error` rejects before anything is stored. */
  readonly unknown?: 'error' | 'skip'
  /** The treatment of objects that already exist, by name: `replace` by default. */
  readonly existing?: 'keep' | 'replace'
}

/** An object that could not be stored, or lost fields. */
interface LoadFinding extends Omit<StoreFinding, 'index'> {
  readonly file: string
}

/** The result of a load. */
export interface LoadReport extends Pick<StoreReport, 'loaded' | 'kinds' | 'unknown'> {
  /** Objects that were left out on purpose, by kind. */
  readonly skipped: Readonly<Record<string, number>>
  /** Objects that could not be stored or lost fields; at most 1,000. */
  readonly findings: readonly LoadFinding[]
  /** Files without objects; at most 1,000. */
  readonly unread: readonly { readonly file: string; readonly reason: string }[]
}

/** Kinds that a running cluster recreates continuously, this server's own groups, and kinds that only a store contains. */
export const skippedKinds: readonly string[] = [
  'Event',
  'Lease',
  'Endpoints',
  'EndpointSlice',
  'APIService',
  'ComponentStatus',
  'RangeAllocation',
]

/** The members of the options, for callers without a compiler. */
const members: ReadonlySet<string> = new Set(['skip', 'secrets', 'unknown', 'existing'])

/** The parts of a server that a load needs. */
export interface Destination {
  readonly client: Client
  readonly store: StoreObjects
}

/**
 * Loads the objects of dumps into a server: definitions first, then all others in the order of their old resourceVersions. resourceVersions are
 * new.
 */
export async function load(paths: readonly string[], options: LoadOptions, destination: Destination): Promise<LoadReport> {
  const wrong = Object.keys(options).find((name) => !members.has(name))
  if (wrong !== undefined) throw new SettingsError(`load(): unknown option ${wrong}: expected ${[...members].join(', ')}`)
  using dump = await readDump(paths, pauses())
  return await loadDump(dump, options, destination)
}

/** Like `load`, for a dump that has been read. */
export async function loadDump(
  dump: Pick<Dump, 'objects' | 'unread'>,
  options: LoadOptions,
  { client, store }: Destination,
): Promise<LoadReport> {
  const skipped: Counts = new Map()
  const wanted = await wantedOf(dump.objects, ({ kind }) => {
    if (!(skippedKinds.includes(kind) || options.skip?.includes(kind))) return true
    count(skipped, kind)
    return false
  })
  if (options.unknown === 'error') await refuseUnknown(client, wanted)
  const read: DumpedObject[] = []
  const unreadable: LoadFinding[] = []
  async function* objects(): AsyncGenerator<LoadedObject, void, undefined> {
    const pause = pauses()
    for (const dumped of wanted) {
      // The caller pauses after objects that can be read.
      await pause()
      try {
        const given = dumped.read()
        if (isTokenSecret(given.object)) {
          count(skipped, dumped.kind)
          continue
        }
        read.push(dumped)
        yield options.secrets === 'redact' ? withoutValues(given) : given
      } catch (error) {
        if (!(error instanceof ManifestError)) throw error
        if (unreadable.length < findingsMax) unreadable.push({ object: nameOf(dumped), file: dumped.file, reason: error.message })
      }
    }
  }
  const { existing, findings, ...report } = await store(objects(), { keepsExisting: options.existing === 'keep' })
  for (const [kind, number] of Object.entries(existing)) count(skipped, kind, number)
  const found = findings.map(({ object, index, reason }) => ({ object, file: read[index]?.file ?? '', reason }))
  return {
    ...report,
    skipped: Object.fromEntries(skipped),
    findings: [...unreadable, ...found].slice(0, findingsMax),
    unread: dump.unread.slice(0, findingsMax),
  }
}

/**
 * The wanted objects in the order of their revisions, definitions first. A dump may contain an object several times in several files: the newest counts.
 * Each step is short or native, as a dump may have a million objects.
 */
async function wantedOf(objects: readonly DumpedObject[], isWanted: (dumped: DumpedObject) => boolean): Promise<DumpedObject[]> {
  const pause = pauses()
  const newest = new Map<string, DumpedObject>()
  for (const dumped of objects) {
    await pause()
    const name = nameOf(dumped)
    const known = newest.get(name)
    if (known === undefined || known.revision <= dumped.revision) newest.set(name, dumped)
  }
  const byRank = new Map<number, DumpedObject[]>()
  for (const dumped of newest.values()) {
    await pause()
    if (!isWanted(dumped)) continue
    const rank = isDefinition(dumped) ? dumped.revision - Number.MAX_SAFE_INTEGER : dumped.revision + 1
    const same = byRank.get(rank)
    if (same === undefined) byRank.set(rank, [dumped])
    else same.push(dumped)
  }
  return Array.from(Float64Array.from(byRank.keys()).sort()).flatMap((rank) => byRank.get(rank) ?? [])
}

async function refuseUnknown(client: Client, wanted: readonly DumpedObject[]): Promise<void> {
  const { resources } = await client.discoverVersions()
  const served = new Set(resources.map(({ group, version, kind }) => `${group === '' ? version : `${group}/${version}`} ${kind}`))
  for (const dumped of wanted.filter(isDefinition)) for (const kind of kindsOf(dumped.read().object)) served.add(kind)
  const first = wanted.find(({ apiVersion, kind }) => !served.has(`${apiVersion} ${kind}`))
  if (first !== undefined) throw new Error(`${first.file}: ${nameOf(first)}: its kind is not served, and nothing has been loaded`)
}

/** The kinds of a definition, as apiVersion and kind. */
function kindsOf({ spec }: ApiObject & { readonly spec?: unknown }): string[] {
  if (!isJsonObject(spec) || !isJsonObject(spec['names']) || !Array.isArray(spec['versions'])) return []
  const { group, names, versions } = spec
  const { kind } = names
  return versions.flatMap((version) => (isJsonObject(version) ? [`${group}/${version['name']} ${kind}`] : []))
}

function isTokenSecret({ kind, type }: ApiObject & { readonly type?: unknown }): boolean {
  return kind === 'Secret' && String(type).endsWith('/service-account-token')
}

/** Values are base64 of the word, so that they can be read as values. */
function withoutValues(given: LoadedObject): LoadedObject {
  const hidden = withoutSecretValues(given.object)
  const { data }: Readonly<Record<string, unknown>> = { ...hidden }
  if (hidden === given.object || !isJsonObject(data)) return { ...given, object: hidden }
  const redacted = Buffer.from('redacted').toString('base64')
  return { ...given, object: { ...hidden, data: Object.fromEntries(Object.keys(data).map((key) => [key, redacted])) } }
}

/** Explains an unreadable dump or an unreachable server in one sentence. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ManifestError || error instanceof UnsentError || error instanceof StatusError)
      throw new StartError(error.message, { cause: error })
    throw error
  }
}
