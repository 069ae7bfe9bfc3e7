import { at } from '@orch/cel/at'
import { getOrMake, lazily } from '@orch/cel/memo'
import { packages } from '../api/packages.ts'
import { existsAt, withChanges } from '../description/levels.ts'
import { gatesByDefault, type IsGateOn } from '../feature-gates.ts'
import { knownReleases, minorOf } from '../gate-releases.ts'
import { defineResource, type KindDefinition, type SubresourceDefinition, type VersionDefinition } from '../kind/define-resource.ts'
import type { KindReaders } from '../kind/kind-readers.ts'
import type { Catalogue, Group, Gvk, Resource, StoredForm, Subresource } from '../kind/resource.ts'
import { fieldLabelsOf } from '../kind/selectable-fields.ts'
import { printApiVersion } from '../meta/api-version.ts'
import { type Names, namesOf, type Profile } from '../names.ts'
import { groupVersionOf, hasTypeAt, packageOf, resolveType, typeNameAt, typeNamesAt, typeOf } from '../schema/resolve.ts'
import { nodeMetricsCells, podMetricsCells } from '../table/cells/usage.ts'
import type { KindTable } from '../table/kind-table.ts'
import type { RuleBook } from '../validation/rule-book.ts'
import { type BuiltInFacts, BuiltInReaders } from './built-in-readers.ts'
import { type GroupDefinition, groupDefinitions } from './groups.ts'
import { allKinds } from './kinds/index.ts'
import { emptyRuntimeConfig, isEnabled, parseRuntimeConfig, type RuntimeConfig, type RuntimeConfigReading } from './runtime-config.ts'
import { createRuleBook } from './validation/rules-by-type.ts'

export interface CatalogueOptions {
  readonly runtimeConfig?: RuntimeConfig
  /** True if a feature gate is on. Default: each gate's own default. */
  readonly isGateOn?: IsGateOn
  /** The minor version of the release that decides which versions are deprecated or no longer served. */
  readonly minor?: number
  /** True to serve the usage of simulated nodes and their Pods as metrics.k8s.io. */
  readonly servesMetrics?: boolean
}

/** Creates the catalogue of built-in kinds for a profile. It is created once at start, and all its queries are look-ups. */
export function createCatalogue(
  profile: Profile,
  {
    runtimeConfig = emptyRuntimeConfig,
    isGateOn = gatesByDefault,
    minor = knownReleases.own,
    servesMetrics = false,
  }: CatalogueOptions = {},
): Catalogue {
  const names = namesOf(profile)
  const kinds = servesMetrics ? [...allKinds, ...metricsKinds] : allKinds
  const readers = new ReadersOfTypes(minor, kinds)
  const all = kinds.flatMap((kind) =>
    kind.versions
      .filter((version) => isServedAt(version, minor))
      .map((version) => createResource(kind, version, { names, isGateOn, readers, minor })),
  )
  const kindTypes = lazily(() => typesByKind(names, minor))
  const readersOfBuiltIn = ({ group, version, kind }: Gvk): KindReaders | undefined => {
    const type = objectType(kindTypes().get(`${printApiVersion(group, version)}/${kind}`), minor)
    return type === undefined ? undefined : readers.of(type)
  }
  const served = groupBy(
    all.filter((resource) => isEnabled(runtimeConfig, resource)),
    ({ group }) => group,
  )
  const groups = groupDefinitions.map((definition) => {
    const name = groupName(names, definition)
    const resources = served.get(name) ?? []
    return new ServedGroup(name, inOrderAt(definition, minor, resources), resources)
  })
  return catalogueOf({ names, isGateOn, level: minor, readersOfBuiltIn }, new Map(groups.map((group) => [group.name, group])))
}

/** The versions of a group, the preferred one first. Behind others that are on by default, a new one is preferred from the next level on. */
function inOrderAt({ group, domain, versions }: GroupDefinition, minor: number, served: readonly Resource[]): readonly string[] {
  const added = Object.values(packages).filter((one) => one.group === group && one.domain === domain && one.since === minor)
  const isOn = (version: string) => served.some((one) => one.version === version && isEnabled(emptyRuntimeConfig, one))
  const rankOf = (version: string) => (!isOn(version) ? 2 : added.some((one) => one.version === version) ? 1 : 0)
  return [0, 1, 2].flatMap((rank) => versions.filter((version) => rankOf(version) === rank))
}

/** The parts of a catalogue that do not depend on the served groups. */
interface Constant extends Pick<Catalogue, 'names' | 'isGateOn' | 'level'> {
  readonly readersOfBuiltIn: Catalogue['readersOfKind']
}

/** A group with its served resources. Catalogues derived from another one share its unchanged groups. */
class ServedGroup implements Group {
  readonly name: string
  readonly versions: readonly string[]
  /** Ordered by version, then by definition. */
  readonly resources: readonly Resource[]
  #byPath: ReadonlyMap<string, Resource> | undefined
  #byKind: ReadonlyMap<string, Resource> | undefined

  constructor(name: string, inOrder: readonly string[], given: readonly Resource[]) {
    this.name = name
    // Copies have no spare capacity, because there may be thousands of groups.
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

  /** True for one or two resources, as in most custom groups: maps would take as much memory as the resources. */
  get #isSmall(): boolean {
    return this.resources.length <= 4
  }
}

/** A catalogue that serves only some versions of one group of another catalogue. */
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
    // Custom groups follow the others. All of them are served, so thousands need no check.
    return [...all.slice(0, groupDefinitions.length).filter(isShown), ...all.slice(groupDefinitions.length)]
  })
  const resources = lazily(() => [...served.values()].flatMap((group) => group.resources))
  const byPrefix = lazily(() => new Map([...resources()].reverse().map((resource) => [resource.stored.prefix, resource])))
  const catalogue: Catalogue = {
    names: constant.names,
    isGateOn: constant.isGateOn,
    level: constant.level,
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

/** The new contents of a group. */
export interface GroupChange {
  readonly name: string
  /** Ordered by preference. */
  readonly versions: readonly string[]
  /** Empty if the group is not served. */
  readonly resources: readonly Resource[]
}

/**
 * A catalogue in which some groups serve other resources; everything else is shared. Custom groups
 * follow the others, by name.
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

/** Adds new groups in order to the custom groups. There may be thousands of groups, to which single ones are added. */
function withAdded(
  groups: ReadonlyMap<string, ServedGroup>,
  added: readonly ServedGroup[],
  builtIn: ReadonlySet<string>,
): Map<string, ServedGroup> {
  const waiting = added.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const all = new Map<string, ServedGroup>()
  let next = 0
  for (const [name, group] of groups) {
    if (!builtIn.has(name))
      for (; next < waiting.length && at(waiting, next).name < name; next++) all.set(at(waiting, next).name, at(waiting, next))
    all.set(name, group)
  }
  for (const group of waiting.slice(next)) all.set(group.name, group)
  return all
}

/** The priority of a built-in group, and of a version within its group. Stable versions precede others. */
export function builtInPriority(names: Names, group: string, version: string): { readonly group: number; readonly version: number } {
  const definition = groupDefinitions.find((one) => groupName(names, one) === group)
  if (definition === undefined) throw new Error(`${group} is no built-in group`)
  const stage = version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15
  return { group: definition.priority, version: definition.versionPriorities?.[version] ?? stage }
}

/** Parses `--runtime-config` for a profile. Keys for anything that the release does not serve are refused. */
export function parseRuntimeConfigOf(profile: Profile, text: string, minor: number = knownReleases.own): RuntimeConfigReading {
  const names = namesOf(profile)
  const available = allKinds.flatMap(({ versions, plural }) =>
    versions.filter((version) => isServedAt(version, minor)).map(({ type }) => ({ ...groupVersionOf(names, packageOf(type)), plural })),
  )
  return parseRuntimeConfig(text, available)
}

function isServedAt({ deprecated, ...version }: VersionDefinition, minor: number): boolean {
  return existsAt(version, minor) && (deprecated?.removed === undefined || minor < minorOf(deprecated.removed))
}

/** Caches the readers of described types. */
class ReadersOfTypes {
  readonly #made = new Map<string, KindReaders>()
  readonly #level: number
  readonly #rules: RuleBook

  constructor(level: number, kinds: readonly KindDefinition[]) {
    this.#level = level
    this.#rules = createRuleBook(level)
    for (const { versions, ...kind } of kinds) {
      for (const { type, ...version } of versions)
        this.#made.set(type, new BuiltInReaders(type, { ...kind, ...version }, level, this.#rules))
      for (const { type, defaults } of kind.subresources) if (type !== undefined && defaults !== undefined) this.of(type, { defaults })
    }
  }

  of(type: string, facts?: BuiltInFacts): KindReaders {
    return getOrMake(this.#made, type, () => new BuiltInReaders(type, facts, this.#level, this.#rules))
  }
}

interface Making {
  readonly names: Names
  readonly isGateOn: IsGateOn
  readonly readers: ReadersOfTypes
  readonly minor: number
}

/** The first level at which discovery contains the singular names of built-in kinds. */
const singularsShownSince = 27

function createResource(
  kind: KindDefinition,
  { type, deprecated, isOffByDefault, since: _since, until: _until, ...version }: VersionDefinition,
  making: Making,
): Resource {
  const { names, readers, minor } = making
  const {
    versions: _versions,
    storedAs: _storedAs,
    scope,
    subresources,
    changes,
    storageVersion,
    table: _table,
    ...rest
  } = withChanges(kind, kind.changes, minor)
  const {
    quota: _quota,
    selectable: _selectable,
    defaults: _defaults,
    unreadable: _unreadable,
    validation: _validation,
    warnings: _warnings,
    statusWarnings: _statusWarnings,
    ...facts
  } = rest
  const gvk = gvkOfType(names, type)
  return {
    ...facts,
    ...gvk,
    replacesUnconditionally: version.replacesUnconditionally ?? facts.replacesUnconditionally,
    type,
    hooks: kind.kind,
    readers: readers.of(type),
    apiVersion: printApiVersion(gvk.group, gvk.version),
    singular: gvk.kind.toLowerCase(),
    shownSingular: minor < singularsShownSince ? '' : gvk.kind.toLowerCase(),
    listKind: `${gvk.kind}List`,
    isNamespaced: scope === 'Namespaced',
    subresources: subresources.filter((one) => existsAt(one, minor)).map((subresource) => createSubresource(type, subresource, making)),
    ...(deprecated === undefined || minor < minorOf(deprecated.since) ? {} : { deprecated: createDeprecation(deprecated, making) }),
    stored: createStoredForm(kind, making),
    fieldLabels: fieldLabelsOf(kind, version, minor),
    ...(storageVersion === undefined ? {} : { hashedType: `${upstreamGroupOf(kind)}/${storageVersion}/${kind.kind}` }),
    ...(isOffByDefault ? { isOffByDefault } : {}),
  }
}

/** Hashes are those of kube-apiserver in each profile. */
function upstreamGroupOf({ storedAs }: KindDefinition): string {
  return groupVersionOf(namesOf('kubernetes'), packageOf(storedAs)).group
}

function createSubresource(
  ownType: string,
  { featureGate, type = ownType, defaults: _defaults, since: _since, until: _until, ...rest }: SubresourceDefinition,
  { names, isGateOn, readers, minor }: Making,
): Subresource {
  const gvk = gvkOfType(names, type)
  const optionsType = rest.optionsType === undefined ? {} : { optionsType: typeNameAt(rest.optionsType, minor) }
  const dropsWrites = featureGate !== undefined && !isGateOn(featureGate)
  const apiVersion = printApiVersion(gvk.group, gvk.version)
  return { ...rest, ...optionsType, ...gvk, type, readers: readers.of(type), apiVersion, ...(dropsWrites ? { dropsWrites } : {}) }
}

function createDeprecation(
  { since, removed, replacement }: NonNullable<VersionDefinition['deprecated']>,
  { names, minor }: Making,
): Resource['deprecated'] {
  return {
    since,
    ...(removed === undefined ? {} : { removed }),
    ...(replacement === undefined || !hasTypeAt(replacement, minor) ? {} : { replacement: gvkOfType(names, replacement) }),
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

/** The type, if the level has it and objects of it can be request bodies, that is, if it has `kind` and `apiVersion`. */
function objectType(type: string | undefined, level: number): string | undefined {
  if (type === undefined || !hasTypeAt(type, level)) return undefined
  const node = resolveType(type)
  return node.kind === 'struct' && node.hasTypeMeta ? type : undefined
}

function groupName(names: Names, { group, domain }: GroupDefinition): string {
  return domain === undefined ? (group ?? '') : `${domain}.${names.apiDomain}`
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    getOrMake(groups, keyOf(item), () => []).push(item)
  }
  return groups
}

/** Kinds besides objects that every group version accepts in bodies. */
const sharedKinds = ['DeleteOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions', 'GetOptions', 'ListOptions', 'WatchEvent']

/** Kinds of the metadata package whose `apiVersion` is a version without a group. */
const unversionedKinds = ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']

/** `<apiVersion>/<name>` → type, for every type of every group version at a level. */
function typesByKind(names: Names, level: number): Map<string, string> {
  const types = new Map<string, string>()
  const apiVersions = new Set<string>()
  for (const type of typeNamesAt(level)) {
    const { group, version } = groupVersionOf(names, packageOf(type))
    const apiVersion = printApiVersion(group, version)
    apiVersions.add(apiVersion)
    types.set(`${apiVersion}/${typeOf(type)}`, type)
  }
  for (const kind of unversionedKinds) types.set(`v1/${kind}`, `meta/v1.${kind}`)
  for (const apiVersion of apiVersions) for (const kind of sharedKinds) types.set(`${apiVersion}/${kind}`, `meta/v1.${kind}`)
  return types
}

const columns: KindTable['columns'] = [
  'Name',
  { name: 'cpu', description: 'The CPU usage.' },
  { name: 'memory', description: 'The memory usage.' },
  { name: 'Window', format: 'duration', description: 'The length of the measurement window.' },
]

const common = { verbs: ['get', 'list'], backing: 'computed' } as const

/** The kinds of metrics.k8s.io, in the order of discovery. They are served if nodes are simulated, and computed from the usage of Pods. */
const metricsKinds: readonly KindDefinition[] = [
  defineResource('metrics.NodeMetrics', {
    ...common,
    versions: { v1beta1: {} },
    plural: 'nodes',
    scope: 'Cluster',
    table: { cells: nodeMetricsCells, columns },
  }),
  defineResource('metrics.PodMetrics', {
    ...common,
    versions: { v1beta1: {} },
    plural: 'pods',
    scope: 'Namespaced',
    table: { cells: podMetricsCells, columns },
  }),
]
