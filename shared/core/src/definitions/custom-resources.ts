import { writersMetadata } from '../kind/define-resource.ts'
import type { KindReaders } from '../kind/kind-readers.ts'
import type { Resource, ScalePaths, StoredForm, Subresource } from '../kind/resource.ts'
import { parseApiVersion, printApiVersion } from '../meta/api-version.ts'
import { type Part, partOf } from '../validation/part.ts'
import {
  type DefinitionNames,
  type DefinitionSpec,
  type DefinitionSubresources,
  type DefinitionVersion,
  isConditionTrue,
  specOf,
  statusOf,
  type VersionParts,
} from './definition-spec.ts'
import { deprecationWarningOf } from './deprecation.ts'

/** The dependencies for making resources of a definition. */
export interface CustomResourcesOptions {
  /** Returns the readers for a version of the definition. Called once per version. */
  readonly readersOf: (version: CustomVersion) => KindReaders
  readonly scale: KindReaders
  /** A text that changes with every change of the definition. */
  readonly definedBy: string
}

/** A version of a custom kind, for its readers. */
export type CustomVersion = ReturnType<typeof versionOf>

const subresourceVerbs: readonly string[] = ['get', 'patch', 'update']
const allVerbs: readonly string[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const verbsWhileTerminating: readonly string[] = ['delete', 'deletecollection', 'get', 'list', 'watch']

/**
 * The resources that a stored definition serves, one per served version; none before its names are accepted. They
 * have the accepted names, which may differ from those in the spec.
 */
export function customResources(definition: Part, options: CustomResourcesOptions): Resource[] {
  if (!isConditionTrue(definition, 'Established') && !isConditionTrue(definition, 'NamesAccepted')) return []
  const spec = specOf(definition)
  const { acceptedNames: names = {} } = statusOf(definition)
  const { group = '', versions } = spec
  if (!names.plural || !names.kind || group === '') return []
  const kind = { ...names, plural: names.plural, kind: names.kind }
  const readers = new Map(
    // The closure does not hold a version's schema.
    (versions ?? []).map((version) => [version.name ?? '', lazyReaders(versionOf(group, kind, version), options.readersOf)]),
  )
  const stored = storedForm(spec, kind, readers)
  if (stored === undefined) return []
  const served = versionsServed(definition)
  return served.flatMap((version): Resource[] => {
    const own = readers.get(version.name ?? '')
    if (own === undefined) return []
    const others = served.flatMap(({ name = '' }) => (name === version.name ? [] : [name]))
    const making = { kind, version: versionOf(group, kind, version), readers: own(), stored, versions: readers, others, options }
    return [createResource(definition, making)]
  })
}

/**
 * The versions in which objects of a definition are served. If a definition under deletion serves none, its storage
 * version is served, so that objects can be deleted.
 */
export function versionsServed(definition: Part): readonly DefinitionVersion[] {
  const versions = specOf(definition).versions ?? []
  const served = versions.filter((version) => version.served === true)
  const isGoing = partOf(definition, 'metadata')['deletionTimestamp'] != null
  return served.length === 0 && isGoing ? versions.filter(({ storage }) => storage === true) : served
}

function lazyReaders(version: CustomVersion, make: CustomResourcesOptions['readersOf']): () => KindReaders {
  let made: KindReaders | undefined
  return () => {
    made ??= make(version)
    return made
  }
}

type Names = DefinitionNames & { readonly plural: string; readonly kind: string }

function versionOf(
  group: string,
  { kind }: Names,
  { name = '', additionalPrinterColumns, selectableFields, subresources }: VersionParts & { readonly name?: string },
) {
  return {
    group,
    version: name,
    kind,
    apiVersion: printApiVersion(group, name),
    ...(additionalPrinterColumns === undefined ? {} : { additionalPrinterColumns }),
    ...(selectableFields === undefined ? {} : { selectableFields }),
    ...(subresources === undefined ? {} : { subresources }),
  }
}

function storedForm(
  spec: DefinitionSpec,
  { plural, kind }: Names,
  readers: ReadonlyMap<string, () => KindReaders>,
): StoredForm | undefined {
  const { group = '', versions } = spec
  const { name: version } = (versions ?? []).find(({ storage }) => storage === true) ?? {}
  const own = version === undefined ? undefined : readers.get(version)
  if (version === undefined || own === undefined) return undefined
  const apiVersion = printApiVersion(group, version)
  return { group, version, kind, apiVersion, type: `${apiVersion}.${kind}`, prefix: `${group}/${plural}`, readers: own() }
}

interface Making {
  readonly kind: Names
  readonly version: CustomVersion
  readonly readers: KindReaders
  readonly stored: StoredForm
  /** Returns the readers of each version, by name. */
  readonly versions: ReadonlyMap<string, () => KindReaders>
  /** Names of the other served versions. */
  readonly others: readonly string[]
  readonly options: CustomResourcesOptions
}

function createResource(definition: Part, { kind: names, version: own, readers, stored, versions, others, options }: Making): Resource {
  const { group, version, kind, apiVersion, subresources, selectableFields = [] } = own
  const { plural, singular = kind.toLowerCase(), listKind = `${kind}List`, shortNames = none, categories = none } = names
  // Equal texts are shared, since there may be thousands.
  const isStored = version === stored.version
  const type = isStored ? stored.type : `${apiVersion}.${kind}`
  const { deletionTimestamp } = partOf(definition, 'metadata')
  const warning = deprecationWarningOf(specOf(definition), version)
  return {
    ...behaviour,
    group,
    version,
    kind,
    apiVersion: isStored ? stored.apiVersion : apiVersion,
    type,
    readers,
    plural,
    singular,
    shownSingular: singular,
    listKind,
    shortNames,
    categories,
    isNamespaced: specOf(definition).scope === 'Namespaced',
    verbs: deletionTimestamp == null ? allVerbs : verbsWhileTerminating,
    ...(deletionTimestamp == null ? {} : { isTerminating: true }),
    backing: 'stored',
    countsStatus: subresources?.status === undefined,
    subresources: subresourcesOf(own, { type, readers, scale: options.scale }, subresources),
    definedBy: options.definedBy,
    hashedType: `${group}/${stored.version}/${kind}`,
    ...(warning === undefined ? {} : { deprecationWarning: warning }),
    ...conversionOf(definition, others),
    ...(versions.size < 2 ? {} : { readersOf: (apiVersion) => versions.get(parseApiVersion(apiVersion)?.version ?? '')?.() }),
    stored,
    fieldLabels: labelsWith(
      specOf(definition).scope === 'Namespaced' ? ofNamespaced : ofCluster,
      selectableFields.map(({ jsonPath = '' }) => jsonPath.replace(/^\./, '')),
    ),
  }
}

/** The conversion between the versions of a definition, if more than the version changes. */
function conversionOf(definition: Part, others: readonly string[]): Pick<Resource, 'conversion' | 'otherVersions'> {
  const { conversion } = specOf(definition)
  const otherVersions = others.length === 0 ? {} : { otherVersions: others }
  if (conversion?.strategy !== 'Webhook') return otherVersions
  const { clientConfig = {}, conversionReviewVersions: reviewVersions = [] } = conversion.webhook ?? {}
  const { name } = partOf(definition, 'metadata')
  return { ...otherVersions, conversion: { definition: String(name ?? ''), clientConfig, reviewVersions } }
}

const behaviour = {
  nameKind: 'subdomain',
  rechecksName: false,
  deleteAnswer: 'status',
  defaultPropagation: 'Background',
  takesBareFinalizers: true,
  hasStrictPaths: true,
  createsOnUpdate: false,
  replacesUnconditionally: false,
  countsGenerations: true,
  statusKeeps: writersMetadata,
} as const

/** A shared empty list. */
const none: readonly never[] = []

type Labels = Readonly<Record<string, string>>

const ofCluster: Labels = { 'metadata.name': 'metadata.name' }
const ofNamespaced: Labels = { ...ofCluster, 'metadata.namespace': 'metadata.namespace' }

function labelsWith(labels: Labels, more: readonly string[]): Labels {
  return more.length === 0 ? labels : { ...labels, ...Object.fromEntries(more.map((label) => [label, label])) }
}

function subresourcesOf(
  { group, version, kind, apiVersion }: CustomVersion,
  { type, readers, scale: scaleReaders }: { readonly type: string; readonly readers: KindReaders; readonly scale: KindReaders },
  { status, scale }: DefinitionSubresources = {},
): readonly Subresource[] {
  if (status === undefined && scale === undefined) return none
  const ofStatus: Subresource = { name: 'status', group, version, kind, apiVersion, type, readers, verbs: subresourceVerbs }
  const ofScale = scale === undefined ? undefined : scalePathsOf(scale)
  return [
    ...(status === undefined ? [] : [ofStatus]),
    ...(ofScale === undefined ? [] : [{ ...scaleFacts, readers: scaleReaders, scalePaths: ofScale }]),
  ]
}

const scaleFacts = {
  name: 'scale',
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  apiVersion: 'autoscaling/v1',
  type: 'autoscaling/v1.Scale',
  verbs: subresourceVerbs,
} as const

function scalePathsOf({
  specReplicasPath = '',
  statusReplicasPath = '',
  labelSelectorPath,
}: NonNullable<DefinitionSubresources['scale']>): ScalePaths {
  return { specReplicasPath, statusReplicasPath, ...(labelSelectorPath ? { labelSelectorPath } : {}) }
}
