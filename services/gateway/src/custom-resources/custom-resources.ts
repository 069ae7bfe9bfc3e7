import { createHash } from 'node:crypto'
import { BuiltInReaders, type Catalogue, type GroupChange, type OpenApiType, type Resource } from '@orch/core/catalogue'
import { type CallContext, type Entry, listEntries, objectKey } from '@orch/core/contracts'
import {
  type CustomVersion,
  compareVersions,
  customResources,
  type DefinitionSpec,
  type SchemaProps,
  specOf,
  statusOf,
} from '@orch/core/definitions'
import { readOurJson, readOurObject } from '@orch/core/events'
import { memberSpan } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import { customOpenApi, type PublishedVersion } from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import { type CustomFacts, parseStructuralInSteps, StructuralReaders, type StructuralSchema } from '@orch/core/structural'
import { ended, Reflector, type Stored } from '@orch/platform'
import type { Pace } from '../request/pace.ts'
import type { Surroundings } from '../surroundings.ts'
import type { LiveCatalogue } from './live-catalogue.ts'
import { BytesPacker, type PackedBytes } from './packed-bytes.ts'
import type { SchemaBudget } from './schema-budget.ts'

/** The dependencies of following definitions. */
export interface CustomResourcesOptions extends Pick<Surroundings, 'storage' | 'clock' | 'wheel' | 'log' | 'random'> {
  readonly catalogue: LiveCatalogue
  readonly schemas: SchemaBudget
  readonly pace: Pace
}

/** The relevant part of a definition. */
interface Kept {
  readonly revision: number
  readonly uid: string
  readonly group: string
  /** Digest of the resources' sources. */
  readonly digest: string
  /** Digest of the readers' sources. */
  readonly schemas: string
  readonly source: Source
  readonly resources: readonly Resource[]
}

type Json = Readonly<Record<string, unknown>>

/** A definition in the stream, which storage may load on demand. */
interface Arrived {
  stored: Stored | undefined
}

/** A definition in storage at the start that has not been read yet. */
interface Unread {
  readonly arrived: Arrived
  readonly revision: number
}

interface LookUp {
  readonly asked: Promise<void>
  /** A second look-up, which begins when `asked` has ended. */
  readonly next: Promise<void> | undefined
}

/** Delay after the start until stored definitions are read, after the server's own controllers have started. */
const readAfterMs = 200
/** Maximum number of definitions of about 25 KB read in one step: some milliseconds. */
const readPerStep = 10

/** Maximum wait of the answer to a write of a definition for the changes of storage. */
const reachedMsMax = 1_000

const scaleReaders = new BuiltInReaders('autoscaling/v1.Scale')

/**
 * Watches the stored definitions, and adds the resources of each to the live catalogue when its stored conditions say that it is served, so that all
 * gateways serve the same. What other gateways have acknowledged a moment ago is looked up before a 404.
 *
 * Definitions that are stored at the start are read when they are first needed: one when its objects are, all for discovery, and
 * otherwise a moment later, in steps.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions
  readonly #prefix: string
  readonly #closed = new AbortController()
  readonly #packer = new BytesPacker()
  readonly #kept = new Map<string, Kept>()
  readonly #byGroup = new Map<string, readonly Kept[]>()
  /** By key; reading one adds its whole group. */
  readonly #unread = new Map<string, Unread>()
  /** Groups with newly read definitions that are not added yet. */
  readonly #unshown = new Set<string>()
  #isLoading = false
  #isLoaded = false
  #reading: Promise<void> | undefined
  readonly #lookUps = new Map<string, LookUp>()
  readonly #waiters = new Set<{ readonly revision: number; readonly resolve: () => void }>()
  #revision = 0
  /** The newest revision of a definition in an answer to a client. */
  #shownRevision = 0
  #loaded: Promise<void> | undefined

  constructor(options: CustomResourcesOptions) {
    this.#options = options
    this.#prefix = `${domainGroup(options.catalogue.current().names, 'apiextensions')}/customresourcedefinitions`
  }

  /** Starts to watch; resolves when all stored definitions can be looked up. */
  load(): Promise<void> {
    this.#loaded ??= this.#followDefinitions()
    return this.#loaded
  }

  /** True if all stored definitions can be looked up. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Resolves when all definitions that were stored at the start are in the catalogue; undefined if they are. */
  complete(): Promise<void> | undefined {
    if (this.#unread.size + this.#unshown.size === 0) return undefined
    this.#reading ??= this.#options.pace.run(this.#readAll()).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Records that a client has seen a definition at a revision. */
  shown(revision: number): void {
    this.#shownRevision = Math.max(this.#shownRevision, revision)
  }

  /** Resolves when the catalogue has all definitions that clients of this gateway have seen, or after a timeout; undefined if it has. */
  upToDate(): Promise<void> | undefined {
    const completed = this.complete()
    if (this.#shownRevision <= this.#revision) return completed
    const reached = this.reached(this.#shownRevision)
    return completed === undefined ? reached : completed.then(() => reached)
  }

  close(): void {
    this.#closed.abort(ended)
  }

  /** True if a group may be one of custom resources, whose names have a dot. */
  mayServe(group: string, plural: string): boolean {
    return group.includes('.') && /^[a-z0-9.-]+$/.test(group) && /^[a-z0-9-]+$/.test(plural)
  }

  /**
   * Reads the current definition from storage. All callers during a request share the next one, as the answer in progress may be older than their
   * knowledge. Absence is not cached.
   */
  lookUp(name: string): Promise<void> {
    this.#readOne(name)
    const { asked, next } = this.#lookUps.get(name) ?? {}
    if (next !== undefined) return next
    if (asked === undefined) return this.#askOnce(name)
    const later = asked.then(
      () => this.#askOnce(name),
      () => this.#askOnce(name),
    )
    this.#lookUps.set(name, { asked, next: later })
    return later
  }

  /** The definition of this gateway's own write is served at once. */
  #readOne(name: string): void {
    const key = objectKey(this.#prefix, undefined, name)
    const unread = this.#unread.get(key)
    if (unread !== undefined) this.#readArrived(key, unread)
    const group = name.slice(name.indexOf('.') + 1)
    if (this.#unshown.delete(group)) this.#showGroups([group], this.#revision)
  }

  *#readAll(): Steps<void> {
    let read = 0
    for (const [key, unread] of this.#unread) {
      this.#readArrived(key, unread)
      if (++read % readPerStep === 0) yield
    }
    this.#showGroups([...this.#unshown], this.#revision)
    this.#unshown.clear()
  }

  #readArrived(key: string, { arrived, revision }: Unread): void {
    this.#unread.delete(key)
    const group = this.#applyStored(key, arrived.stored, revision)
    arrived.stored = undefined
    if (group !== undefined) this.#unshown.add(group)
  }

  #askOnce(name: string): Promise<void> {
    const asked = this.#fetchDefinition(name).finally(() => {
      if (this.#lookUps.get(name)?.next === undefined) this.#lookUps.delete(name)
    })
    this.#lookUps.set(name, { asked, next: undefined })
    return asked
  }

  /** The uid of a definition as this gateway serves it; undefined if unserved. */
  uidOf(name: string): string | undefined {
    return this.#kept.get(objectKey(this.#prefix, undefined, name))?.uid
  }

  /** Resolves when the change of a definition at this revision is served, or after a timeout. */
  reached(revision: number): Promise<void> {
    if (this.#revision >= revision) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { revision, resolve }
    this.#waiters.add(waiter)
    const timer = this.#options.wheel.after(reachedMsMax, { due: resolve })
    return promise.finally(() => {
      timer.cancel()
      this.#waiters.delete(waiter)
    })
  }

  async #fetchDefinition(name: string): Promise<void> {
    const key = objectKey(this.#prefix, undefined, name)
    const { entry, revision } = await this.#options.storage.get({ key, read: { kind: 'latest' } })
    const at = entry?.revision ?? revision
    const group = this.#applyStored(key, entry, at)
    if (group !== undefined) this.#showGroups([group], at)
  }

  async #followDefinitions(): Promise<void> {
    const { storage, clock, wheel, log, random } = this.#options
    const keep = (stored: Stored): Arrived => ({ stored })
    this.#isLoading = true
    const reflector = new Reflector({ storage, clock, log, random, resource: this.#prefix, keep, signal: this.#closed.signal })
    reflector.onChange(({ key, after, revision }) => {
      if (this.#isLoading && after !== undefined) this.#unread.set(key, { arrived: after, revision })
      else this.#noteChange(key, after, revision)
      this.#revision = Math.max(this.#revision, revision)
      for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve()
    })
    await reflector.ready
    this.#isLoading = false
    this.#isLoaded = true
    wheel.after(readAfterMs, { due: () => void this.complete() })
  }

  #noteChange(key: string, after: Arrived | undefined, revision: number): void {
    this.#unread.delete(key)
    const group = this.#applyStored(key, after?.stored, revision)
    // Only the readers built from it are kept.
    if (after !== undefined) after.stored = undefined
    if (group !== undefined) this.#showGroups([group], revision)
  }

  /** Applies a definition at a revision. Returns the name of its group if its served resources have changed. */
  #applyStored(key: string, stored: Stored | undefined, revision: number): string | undefined {
    const before = this.#kept.get(key)
    if (before !== undefined && before.revision >= revision) return undefined
    if (stored === undefined) {
      if (before === undefined) return undefined
      this.#placeKept(key, before, undefined)
      return before.group
    }
    const after = this.#keepStored(key, stored, revision, before)
    if (after === undefined) return undefined
    this.#placeKept(key, before, after)
    return before?.digest === after.digest ? undefined : after.group
  }

  /** The group of a definition is part of its name, and immutable. */
  #placeKept(key: string, before: Kept | undefined, after: Kept | undefined): void {
    const group = (before ?? after)?.group ?? ''
    const others = (this.#byGroup.get(group) ?? []).filter((kept) => kept !== before)
    if (after === undefined) this.#kept.delete(key)
    else this.#kept.set(key, after)
    const ofGroup = after === undefined ? others : others.concat(after)
    if (ofGroup.length === 0) this.#byGroup.delete(group)
    else this.#byGroup.set(group, ofGroup)
    if (before?.source !== after?.source) for (const readers of before?.source.readers ?? []) this.#options.schemas.drop(readers)
  }

  /** Stores the resources of a definition. If none has changed, the resources stay the same values. */
  #keepStored(key: string, stored: Stored, revision: number, before: Kept | undefined): Kept | undefined {
    try {
      const definition = readOurObject(stored.value)
      const { digest, schemas, spec } = digestsOf(definition, stored)
      const { group = '' } = specOf(definition)
      const { uid = '' } = definition.metadata
      if (before?.digest === digest) return { ...before, uid, revision }
      const known = before?.schemas === schemas ? before.source : undefined
      const source = known ?? { bytes: this.#packer.keep(spec), isStructural: isStructural(definition), readers: [] }
      const readersOf = this.#readersFrom(source)
      const resources = customResources(definition, { readersOf, scale: scaleReaders, definedBy: digest })
      // A copy has exactly the needed length.
      return { revision, uid, group, digest, schemas, source, resources: resources.slice() }
    } catch (error) {
      this.#options.log.error({ err: error, key }, 'a stored definition cannot be served')
      return undefined
    }
  }

  /** The result may be cached with a conversion, so it must not reference other parts of the definition. */
  #readersFrom(source: Source): (version: CustomVersion) => StructuralReaders {
    return (version) => {
      const known = source.readers.find((one) => one.version === version.version)
      if (known !== undefined) return known
      const made = createReaders(source, version, this.#options.schemas)
      source.readers = source.readers.concat(made)
      return made
    }
  }

  #showGroups(groups: readonly string[], revision: number): void {
    if (groups.length === 0) return
    const changes = groups.map((name) => groupOf(name, this.#byGroup.get(name) ?? []))
    this.#options.catalogue.setGroups(changes, revision)
  }

  *#readPast(entries: readonly Entry[], byGroup: Map<string, Kept[]>): Steps<void> {
    for (const [index, entry] of entries.entries()) {
      const kept = this.#keepStored(entry.key, entry, entry.revision, this.#kept.get(entry.key))
      if (kept !== undefined) byGroup.set(kept.group, (byGroup.get(kept.group) ?? []).concat(kept))
      if (index % readPerStep === readPerStep - 1) yield
    }
  }

  /** The kinds at a revision, those of a restored past included. Kinds of definitions that are the same now are the same values. */
  async catalogueAt(revision: number, context: CallContext): Promise<Catalogue> {
    const read = { kind: 'exact', revision, asked: String(revision), isPast: true } as const
    const byGroup = new Map<string, Kept[]>()
    for await (const entries of listEntries(this.#options.storage, { resource: this.#prefix }, { read, context })) {
      await this.#options.pace.run(this.#readPast(entries, byGroup))
    }
    return this.#options.catalogue.besideBuiltIn([...byGroup].map(([name, kept]) => groupOf(name, kept)))
  }
}

function groupOf(name: string, kept: readonly Kept[]): GroupChange {
  const resources = kept.flatMap((one) => one.resources)
  return { name, versions: [...new Set(resources.map(({ version }) => version))].sort(compareVersions), resources }
}

/** The parts of a definition that its resources depend on: its spec, its accepted names, and its served and deletion state. */
function digestsOf(definition: Json, stored: Stored): Pick<Kept, 'digest' | 'schemas'> & { readonly spec: Uint8Array } {
  const { generation, deletionTimestamp } = (definition['metadata'] ?? {}) as Json
  const { acceptedNames, conditions } = statusOf(definition)
  const spec = specBytes(definition, stored)
  const schemas = digestOf(spec, JSON.stringify([acceptedNames ?? {}, isStructural(definition)]))
  const states = (conditions ?? []).map(({ type, status }) => [type, status])
  return { spec, schemas, digest: digestOf(schemas, JSON.stringify([generation, deletionTimestamp, states])) }
}

function digestOf(first: Uint8Array | string, second: string): string {
  return createHash('sha256').update(first).update(second).digest('base64url')
}

function isStructural(definition: Json): boolean {
  return !(statusOf(definition).conditions ?? []).some(({ type }) => type === 'NonStructuralSchema')
}

/** The source of a definition's readers. */
interface Source {
  /** The bytes of the spec. */
  readonly bytes: PackedBytes
  readonly isStructural: boolean
  /** Readers of the versions in use. */
  readers: readonly StructuralReaders[]
}

function createReaders(source: Source, version: CustomVersion, schemas: SchemaBudget): StructuralReaders {
  const facts = new FactsOfVersion(source, version, schemas)
  const readers = new StructuralReaders(facts)
  facts.readers = readers
  return readers
}

/** One value for all. */
const none: readonly never[] = []

/** A version's facts about its objects. A server may have thousands of versions and never use most, so this has no closures, and the schema is parsed at its first use. */
class FactsOfVersion implements CustomFacts {
  readonly columns: CustomFacts['columns']
  readonly selectable: readonly string[]
  readonly scale: CustomFacts['scale']
  readers: StructuralReaders | undefined
  readonly #source: Source
  readonly #version: CustomVersion
  readonly #schemas: SchemaBudget

  constructor(source: Source, version: CustomVersion, schemas: SchemaBudget) {
    const { additionalPrinterColumns = none, selectableFields = none, subresources } = version
    const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath } = subresources?.scale ?? {}
    this.columns =
      additionalPrinterColumns.length === 0
        ? none
        : additionalPrinterColumns.map(({ name = '', type = '', jsonPath = '', ...column }) => ({
            ...column,
            name,
            type,
            jsonPath,
          }))
    this.selectable = selectableFields.length === 0 ? none : selectableFields.map(({ jsonPath = '' }) => jsonPath)
    this.scale =
      subresources?.scale === undefined
        ? undefined
        : { specReplicasPath, statusReplicasPath, ...(labelSelectorPath ? { labelSelectorPath } : {}) }
    this.#source = source
    this.#version = version
    this.#schemas = schemas
  }

  get version(): string {
    return this.#version.version
  }

  *schema(): Steps<StructuralSchema> {
    const schema = schemaOf(specIn(this.#source), this.version)
    yield
    return yield* parseStructuralInSteps(schema)
  }

  onMade(): void {
    if (this.readers !== undefined) this.#schemas.made(this.readers, memoryPerByte * this.#source.bytes.length)
  }

  openApi(): OpenApiType {
    return customOpenApi(this.#version, () => publishedIn(this.#source, this.#version))
  }
}

/** The memory of a schema's tree, with everything built from it, per byte of its definition. */
const memoryPerByte = 3

/** The published form of a version in OpenAPI documents. */
function publishedIn(source: Source, { version, selectableFields = [] }: CustomVersion): PublishedVersion {
  const spec = specIn(source)
  return {
    schema: schemaOf(spec, version),
    keepsUnknown: spec.preserveUnknownFields === true,
    isStructural: source.isStructural,
    selectable: selectableFields.map(({ jsonPath = '' }) => jsonPath.replace(/^\./, '')),
  }
}

/** Parsed each time, as most are never used. */
function specIn({ bytes }: Source): DefinitionSpec {
  return readOurJson(bytes.read()) as DefinitionSpec
}

function schemaOf({ versions }: DefinitionSpec, version: string): SchemaProps | undefined {
  return (versions ?? []).find(({ name }) => name === version)?.schema?.openAPIV3Schema
}

/** The bytes of the spec of a stored definition that is already decoded. */
export function specBytes(definition: object, stored: Stored): Uint8Array {
  return betweenMetadataAndStatus(definition, stored) ?? wherever(stored)
}

/** The spec at its position in stored bytes, after the metadata and before the status; undefined for another order. */
function betweenMetadataAndStatus(definition: object, { value, metadataEnd }: Stored): Uint8Array | undefined {
  if (Object.keys(definition).slice(-3).join() !== 'metadata,spec,status') return undefined
  const behind = Buffer.from(`,"status":${JSON.stringify(Object.values(definition).at(-1))}}`)
  const [start, end] = [metadataEnd + front.length, value.length - behind.length]
  if (start > end || !front.equals(value.subarray(metadataEnd, start)) || !behind.equals(value.subarray(end))) return undefined
  return value.subarray(start, end)
}

const front = Buffer.from(',"spec":')

/** Finds the spec in any order of members. Scanning a megabyte byte by byte takes ten milliseconds. */
function wherever({ value }: Stored): Uint8Array {
  const span = memberSpan(value, 0, 'spec')
  if (span === undefined) throw new Error('a stored definition has no spec')
  return value.subarray(span.start, span.end)
}
