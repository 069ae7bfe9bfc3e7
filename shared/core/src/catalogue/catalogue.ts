import { gatesByDefault, type IsGateOn } from '../feature-gates.ts'
import { knownReleases, minorOf } from '../gate-releases.ts'
import { printApiVersion } from '../meta/api-version.ts'
import { type Names, namesOf, type Profile } from '../names.ts'
import { groupVersionOf, packageOf, resolveType, typeOf } from '../schema/resolve.ts'
import type { ScalePaths } from '../structural/scale.ts'
import { type BuiltInFacts, BuiltInReaders } from './built-in-readers.ts'
import { type GroupDefinition, groupDefinitions } from './groups.ts'
import type { KindReaders } from './kind-readers.ts'
import { typesByKind } from './kind-types.ts'
import { allKinds } from './kinds/all-kinds.ts'
import type { Behaviour, KindDefinition, SubresourceDefinition, VersionDefinition } from './kinds/define-resource.ts'
import { emptyRuntimeConfig, isEnabled, parseRuntimeConfig, type RuntimeConfig, type RuntimeConfigReading } from './runtime-config.ts'
import { fieldLabelsOf } from './selectable-fields.ts'

/** Group, version and kind of an object. */
export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The webhook of a definition that converts its objects between versions. */
export interface ConversionWebhook {
  /** Name of the definition: `widgets.example.com`. */
  readonly definition: string
  /** As the definition has it. */
  readonly clientConfig: Readonly<Record<string, unknown>>
  /** Versions of reviews that it knows, the preferred one first. */
  readonly reviewVersions: readonly string[]
}

/** One resource in one served version. */
export interface Resource extends Gvk, Behaviour {
  readonly plural: string
  readonly singular: string
  /** The singular in the older form of discovery. Level 1.25 leaves those of its own kinds empty; clients derive them from the kind. */
  readonly shownSingular: string
  readonly listKind: string
  /** `v1`, `apps/v1`: what stands in `apiVersion`. */
  readonly apiVersion: string
  /** Name of the type of its objects: `core/v1.Pod`. */
  readonly type: string
  /** Under which name gateways look for what writing its objects does beside storing them. Absent: it does nothing, whatever the kind is called. */
  readonly hooks?: string
  /** What reads its objects. */
  readonly readers: KindReaders
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
  /** Its definition is being deleted: all verbs are served, whichever discovery lists, and no object is created. */
  readonly isTerminating?: true
  /** A path without the namespace that a verb needs leads nowhere, where otherwise the verb is not allowed. */
  readonly hasStrictPaths?: true
  readonly backing: KindDefinition['backing']
  readonly answeredBy?: KindDefinition['answeredBy']
  readonly subresources: readonly Subresource[]
  readonly storageVersionHash?: string
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: Gvk }
  /** Of a custom resource: another text where its definition says anything else of it. */
  readonly definedBy?: string
  /** What clients of a version that a definition deprecates are warned with. */
  readonly deprecationWarning?: string
  /** Converts objects of other versions into this one, and those of this one into others; absent: nothing but the version changes. */
  readonly conversion?: ConversionWebhook
  /** Of a custom kind without such a webhook: the other versions in which its objects are served; absent: none. */
  readonly otherVersions?: readonly string[]
  /**
   * Of a custom kind in several versions: the readers of one of them, served or not. Objects may have been stored in any, and are read
   * with the schema of theirs.
   */
  readonly readersOf?: (apiVersion: string) => KindReaders | undefined
  /** How its objects are kept. All versions of a kind share it, and kinds of two groups may. */
  readonly stored: StoredForm
  /** Accepted field selector label → label of the stored object. */
  readonly fieldLabels: Readonly<Record<string, string>>
}

export interface StoredForm extends Gvk {
  readonly apiVersion: string
  readonly type: string
  /** First part of the keys, without slashes at its ends: `core/pods`. */
  readonly prefix: string
  /** What reads objects of the stored version. */
  readonly readers: KindReaders
}

export interface Subresource extends Gvk {
  readonly name: string
  readonly type: string
  /** What reads the bodies that are sent to it. */
  readonly readers: KindReaders
  readonly apiVersion: string
  readonly verbs: readonly string[]
  readonly optionsType?: string
  readonly connect?: readonly string[]
  readonly reaches?: SubresourceDefinition['reaches']
  readonly hasSubpath?: boolean
  readonly produces?: string
  /** Of a Scale: where the object has its numbers. Absent: where built-in kinds have them. */
  readonly scalePaths?: ScalePaths
  /** Its feature gate is off: it can be read, and what is written through it is dropped. */
  readonly dropsWrites?: true
}

/** A served group, its versions in order of preference. */
export interface Group {
  readonly name: string
  readonly versions: readonly string[]
}

/** What a catalogue is made for. */
export interface CatalogueOptions {
  readonly runtimeConfig?: RuntimeConfig
  /** Whether a feature gate is on; without it all are as they are by default. */
  readonly isGateOn?: IsGateOn
  /** Minor number of the release that decides which versions are deprecated and which are not served any more. */
  readonly minor?: number
}

/** Everything that is served, found by path, by kind or by storage prefix. */
export interface Catalogue {
  readonly names: Names
  readonly isGateOn: IsGateOn
  /** In the order of `/apis`, then of definition. */
  readonly resources: readonly Resource[]
  /** Named groups in the order of `/apis`. The core group is not among them. */
  readonly groups: readonly Group[]
  /** The group of this name among them. */
  group(name: string): Group | undefined
  find(group: string, version: string, plural: string): Resource | undefined
  findKind(gvk: Gvk): Resource | undefined
  /** What reads a kind that may stand in a body, whether or not it is a resource: options, reviews, Scale, lists. */
  readersOfKind(gvk: Gvk): KindReaders | undefined
  /** The resources of one group version, in order of definition; empty: the group version is not served. */
  inGroupVersion(group: string, version: string): readonly Resource[]
  /** A resource whose objects are kept under this prefix, in the preferred version. */
  findStored(prefix: string): Resource | undefined
}

/** The catalogue of built-in kinds for a profile. Built once at start; every question to it is a look-up. */
export function createCatalogue(
  profile: Profile,
  { runtimeConfig = emptyRuntimeConfig, isGateOn = gatesByDefault, minor = knownReleases.own }: CatalogueOptions = {},
): Catalogue {
  const names = namesOf(profile)
  const readers = new ReadersOfTypes()
  const all = allKinds.flatMap((kind) =>
    kind.versions
      .filter((version) => isServedAt(version, minor))
      .map((version) => createResource(kind, version, { names, isGateOn, readers, minor })),
  )
  const kindTypes = lazily(() => typesByKind(names))
  const readersOfBuiltIn = ({ group, version, kind }: Gvk): KindReaders | undefined => {
    const type = objectType(kindTypes().get(`${printApiVersion(group, version)}/${kind}`))
    return type === undefined ? undefined : readers.of(type)
  }
  const served = groupBy(
    all.filter((resource) => isEnabled(runtimeConfig, resource)),
    ({ group }) => group,
  )
  const groups = groupDefinitions.map((definition) => {
    const name = groupName(names, definition)
    return new ServedGroup(name, definition.versions, served.get(name) ?? [])
  })
  return catalogueOf({ names, isGateOn, readersOfBuiltIn }, new Map(groups.map((group) => [group.name, group])))
}

/** What does not change with the groups that are served. */
interface Constant extends Pick<Catalogue, 'names' | 'isGateOn'> {
  readonly readersOfBuiltIn: Catalogue['readersOfKind']
}

/** A group with what is served in it. A catalogue that is made of another one shares the groups that did not change. */
class ServedGroup implements Group {
  readonly name: string
  readonly versions: readonly string[]
  /** By version, then in order of definition. */
  readonly resources: readonly Resource[]
  #byPath: ReadonlyMap<string, Resource> | undefined
  #byKind: ReadonlyMap<string, Resource> | undefined

  constructor(name: string, inOrder: readonly string[], given: readonly Resource[]) {
    this.name = name
    // Copies are exactly as long as they must be: there may be thousands of groups.
    this.versions = inOrder.filter((version) => given.some((resource) => resource.version === version)).slice()
    this.resources = this.versions.flatMap((version) => given.filter((resource) => resource.version === version)).slice()
  }

  find(version: string, plural: string): Resource | undefined {
    if (this.#isSmall) return this.resources.findLast((one) => one.plural === plural && one.version === version)
    this.#byPath ??= new Map(this.resources.map((resource) => [`${resource.version}/${resource.plural}`, resource]))
    return this.#byPath.get(`${version}/${plural}`)
  }

  findKind(version: string, kind: string): Resource | undefined {
    if (this.#isSmall) return this.resources.findLast((one) => one.kind === kind && one.version === version)
    this.#byKind ??= new Map(this.resources.map((resource) => [`${resource.version}/${resource.kind}`, resource]))
    return this.#byKind.get(`${version}/${kind}`)
  }

  ofVersion(version: string): readonly Resource[] {
    return this.resources.filter((resource) => resource.version === version)
  }

  /** Most groups of custom resources have one or two: maps of them would take as much memory as the resources. */
  get #isSmall(): boolean {
    return this.resources.length <= 4
  }
}

/** A catalogue that serves some versions of one group of another one, and nothing else. */
export function onlyGroup(base: Catalogue, { name, versions }: Group): Catalogue {
  const known = shownGroups.get(base)
  const group = known?.groups.get(name)
  if (known === undefined || group === undefined) throw new Error(`the catalogue does not serve ${name}`)
  const isWhole = versions.length === group.versions.length
  return catalogueOf(known.constant, new Map([[name, isWhole ? group : new ServedGroup(name, versions, group.resources)]]))
}

const shownGroups = new WeakMap<Catalogue, { readonly constant: Constant; readonly groups: ReadonlyMap<string, ServedGroup> }>()

function catalogueOf(constant: Constant, served: ReadonlyMap<string, ServedGroup>): Catalogue {
  const isShown = ({ name, versions }: Group): boolean => name !== '' && versions.length > 0
  const groups = lazily(() => {
    const all = [...served.values()]
    // Groups that are not built in stand behind the others, and are served: there may be thousands, which are not looked at.
    return [...all.slice(0, groupDefinitions.length).filter(isShown), ...all.slice(groupDefinitions.length)]
  })
  const resources = lazily(() => [...served.values()].flatMap((group) => group.resources))
  const byPrefix = lazily(() => new Map([...resources()].reverse().map((resource) => [resource.stored.prefix, resource])))
  const catalogue: Catalogue = {
    names: constant.names,
    isGateOn: constant.isGateOn,
    get resources() {
      return resources()
    },
    get groups() {
      return groups()
    },
    group(name) {
      const found = served.get(name)
      return found !== undefined && isShown(found) ? found : undefined
    },
    find: (group, version, plural) => served.get(group)?.find(version, plural),
    findKind: ({ group, version, kind }) => served.get(group)?.findKind(version, kind),
    readersOfKind: (gvk) => constant.readersOfBuiltIn(gvk) ?? catalogue.findKind(gvk)?.readers,
    inGroupVersion: (group, version) => served.get(group)?.ofVersion(version) ?? [],
    findStored: (prefix) => byPrefix().get(prefix),
  }
  shownGroups.set(catalogue, { constant, groups: served })
  return catalogue
}

/** What a group serves from now on. */
export interface GroupChange {
  readonly name: string
  /** In order of preference. */
  readonly versions: readonly string[]
  /** None: the group is not served. */
  readonly resources: readonly Resource[]
}

/**
 * A catalogue in which groups serve other resources, and all else is as it was and the same values. Groups that are not built in
 * stand behind the others, by name.
 */
export function withGroups(base: Catalogue, changes: readonly GroupChange[]): Catalogue {
  const known = shownGroups.get(base)
  if (known === undefined) throw new Error('a catalogue is made of one that `createCatalogue` or `withGroups` has made')
  const { constant } = known
  const builtIn = new Set(groupDefinitions.map((definition) => groupName(constant.names, definition)))
  const groups = new Map(known.groups)
  const added: ServedGroup[] = []
  for (const { name, versions, resources } of changes) {
    const group = new ServedGroup(name, versions, resources)
    if (resources.length === 0 && !builtIn.has(name)) groups.delete(name)
    else if (groups.has(name)) groups.set(name, group)
    else added.push(group)
  }
  return catalogueOf(constant, added.length === 0 ? groups : withAdded(groups, added, builtIn))
}

/** The same groups in their order, and the added ones among those that are not built in. One of thousands may come at a time. */
function withAdded(
  groups: ReadonlyMap<string, ServedGroup>,
  added: readonly ServedGroup[],
  builtIn: ReadonlySet<string>,
): Map<string, ServedGroup> {
  const waiting = added.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const all = new Map<string, ServedGroup>()
  let next = 0
  for (const [name, group] of groups) {
    if (!builtIn.has(name)) for (; next < waiting.length && waiting[next]!.name < name; next++) all.set(waiting[next]!.name, waiting[next]!)
    all.set(name, group)
  }
  for (const group of waiting.slice(next)) all.set(group.name, group)
  return all
}

/** The place of a built-in group among groups, and of a version in it. Stable versions stand before those that are not. */
export function builtInPriority(names: Names, group: string, version: string): { readonly group: number; readonly version: number } {
  const definition = groupDefinitions.find((one) => groupName(names, one) === group)
  if (definition === undefined) throw new Error(`${group} is no built-in group`)
  const stage = version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15
  return { group: definition.priority, version: definition.versionPriorities?.[version] ?? stage }
}

/** Reads `--runtime-config` for a profile; keys that name nothing that the release serves are refused. */
export function parseRuntimeConfigOf(profile: Profile, text: string, minor: number = knownReleases.own): RuntimeConfigReading {
  const names = namesOf(profile)
  const available = allKinds.flatMap(({ versions, plural }) =>
    versions.filter((version) => isServedAt(version, minor)).map(({ type }) => ({ ...groupVersionOf(names, packageOf(type)), plural })),
  )
  return parseRuntimeConfig(text, available)
}

function isServedAt({ deprecated }: VersionDefinition, minor: number): boolean {
  return deprecated?.removed === undefined || minor < minorOf(deprecated.removed)
}

/** The readers of described types, one of each. */
class ReadersOfTypes {
  readonly #made = new Map<string, KindReaders>()

  constructor() {
    for (const { versions, ...kind } of allKinds) {
      for (const { type, ...version } of versions) this.#made.set(type, new BuiltInReaders(type, { ...kind, ...version }))
      for (const { type, defaults } of kind.subresources) if (type !== undefined && defaults !== undefined) this.of(type, { defaults })
    }
  }

  of(type: string, facts?: BuiltInFacts): KindReaders {
    const known = this.#made.get(type)
    if (known !== undefined) return known
    const readers = new BuiltInReaders(type, facts)
    this.#made.set(type, readers)
    return readers
  }
}

interface Making {
  readonly names: Names
  readonly isGateOn: IsGateOn
  readonly readers: ReadersOfTypes
  readonly minor: number
}

function createResource(kind: KindDefinition, { type, deprecated, ...version }: VersionDefinition, making: Making): Resource {
  const { names, readers, minor } = making
  const { versions: _versions, storedAs: _storedAs, scope, subresources, storageVersionHash, table: _table, ...rest } = kind
  const {
    quota: _quota,
    selectable: _selectable,
    defaults: _defaults,
    unreadable: _unreadable,
    validation: _validation,
    warnings: _warnings,
    ...facts
  } = rest
  const gvk = gvkOfType(names, type)
  return {
    ...facts,
    ...gvk,
    type,
    hooks: kind.kind,
    readers: readers.of(type),
    apiVersion: printApiVersion(gvk.group, gvk.version),
    singular: gvk.kind.toLowerCase(),
    shownSingular: '',
    listKind: `${gvk.kind}List`,
    isNamespaced: scope === 'Namespaced',
    subresources: subresources.map((subresource) => createSubresource(type, subresource, making)),
    ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
    ...(deprecated === undefined || minor < minorOf(deprecated.since) ? {} : { deprecated: createDeprecation(names, deprecated) }),
    stored: createStoredForm(kind, making),
    fieldLabels: fieldLabelsOf(kind, version),
  }
}

function createSubresource(
  ownType: string,
  { featureGate, type = ownType, defaults: _defaults, ...rest }: SubresourceDefinition,
  { names, isGateOn, readers }: Making,
): Subresource {
  const gvk = gvkOfType(names, type)
  const dropsWrites = featureGate !== undefined && !isGateOn(featureGate)
  const apiVersion = printApiVersion(gvk.group, gvk.version)
  return { ...rest, ...gvk, type, readers: readers.of(type), apiVersion, ...(dropsWrites ? { dropsWrites } : {}) }
}

function createDeprecation(
  names: Names,
  { since, removed, replacement }: NonNullable<VersionDefinition['deprecated']>,
): Resource['deprecated'] {
  return {
    since,
    ...(removed === undefined ? {} : { removed }),
    ...(replacement === undefined ? {} : { replacement: gvkOfType(names, replacement) }),
  }
}

function createStoredForm(kind: KindDefinition, { names, readers }: Making): StoredForm {
  const type = kind.storedAs
  const gvk = gvkOfType(names, type)
  return {
    ...gvk,
    type,
    apiVersion: printApiVersion(gvk.group, gvk.version),
    prefix: `${gvk.group === '' ? 'core' : gvk.group}/${kind.plural}`,
    readers: readers.of(type),
  }
}

/** Group, version and kind of a type. */
function gvkOfType(names: Names, type: string): Gvk {
  return { ...groupVersionOf(names, packageOf(type)), kind: typeOf(type) }
}

/** Only a type with `kind` and `apiVersion` may stand in a body of its own. */
function objectType(type: string | undefined): string | undefined {
  if (type === undefined) return undefined
  const node = resolveType(type)
  return node.kind === 'struct' && node.hasTypeMeta ? type : undefined
}

function groupName(names: Names, { group, domain }: GroupDefinition): string {
  return domain === undefined ? (group ?? '') : `${domain}.${names.apiDomain}`
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
