import type { IsGateOn } from '../feature-gates.ts'
import type { FieldError, NameCheck, NameKind, ObjectMeta } from '../meta/index.ts'
import type { Names } from '../names.ts'
import type { Measure } from '../quota/measures.ts'
import type { Steps } from '../steps.ts'
import type { KindTable } from '../table/kind-table.ts'
import type { Part } from '../validation/part.ts'
import type { RuleContext } from '../validation/rule-book.ts'
import type { Draft } from './draft.ts'
import type { Reshape } from './reshape.ts'
import type { SelectableFields } from './selectable-fields.ts'

/** Everything specific to one kind besides the type of its objects, before a profile names its group. */
export interface KindDefinition extends Behaviour {
  readonly kind: string
  /** The served versions. */
  readonly versions: readonly VersionDefinition[]
  /** The type in which its objects are stored, in every served version. */
  readonly storedAs: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly verbs: readonly string[]
  /** `stored`: in storage. `virtual`: a request that is answered and not stored. `computed`: generated on each read. */
  readonly backing: 'stored' | 'virtual' | 'computed'
  /** The handler of a virtual kind, whose only verb is create. */
  readonly answeredBy?: 'accessReview' | 'rulesReview' | 'tokenReview' | 'selfReview' | 'binding'
  readonly subresources: readonly SubresourceDefinition[]
  /** The version whose hash discovery shows, so that clients notice a new storage version. Undefined if objects are not stored. */
  readonly storageVersion?: string | undefined
  /** Level → changes from that level on. */
  readonly changes?: Readonly<Record<number, KindChange>>
  /** The counting of its objects by quotas. Default: one each. */
  readonly quota?: Measure
  readonly selectable?: SelectableFields
  readonly defaults?: Defaulter
  readonly unreadable?: Unreadable
  readonly validation?: Rules
  readonly warnings?: WarningRule
  /** The warnings about a status. */
  readonly statusWarnings?: WarningRule
  /** The table columns. Default: name and age. */
  readonly table?: KindTable
}

/** The change of a kind at a level; undefined removes a member. */
type KindChange = Partial<Pick<KindDefinition, 'storageVersion' | 'shortNames' | 'nameKind' | 'countsGenerations'>> & {
  readonly groupInMessages?: undefined
}

/** A kind in one version. Omitted members default to those of the kind. */
export interface VersionDefinition {
  /** The type of its objects: `core/v1.Pod`. Its package names group and version. */
  readonly type: string
  /** The first and the last level that serve it, by minor version; `deprecated.removed` also implies the last one. */
  readonly since?: number
  readonly until?: number
  /** True if only `--runtime-config` enables it. */
  readonly isOffByDefault?: true
  /** True if a PUT without resourceVersion replaces an object at the path of this version. Default: the kind's. */
  readonly replacesUnconditionally?: true
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: string }
  readonly defaults?: Defaulter
  readonly unreadable?: Unreadable
  readonly validation?: Rules
  /** The conversion to the stored form. Default: only `apiVersion` differs. */
  readonly reshape?: Reshape
  /** Accepted field selector label → label in the stored object. */
  readonly fieldLabels?: Readonly<Record<string, string>>
}

/** The differences between kinds besides their fields. */
export interface Behaviour {
  /** The allowed names of its objects; a function if they depend on the object. */
  readonly nameKind: NameKind | ((object: Part) => NameCheck)
  /** An update checks the base of a generated name as a create does. Updates of other kinds check it as part of a path. */
  readonly rechecksName: boolean
  /**
   * The answer of a successful delete. `object`: the object. `status`: a Status when the object is gone, the object while finalizers
   * hold it. `statusUnasked`: also a Status if only the kind's default policy holds it.
   */
  readonly deleteAnswer: 'object' | 'status' | 'statusUnasked'
  /** The default propagation policy of deletes; `Unsupported`: none is honoured, as the objects have no dependents. */
  readonly defaultPropagation: 'Background' | 'Orphan' | 'Unsupported'
  /** The warning for a delete without a propagation policy. */
  readonly defaultPropagationWarning?: string
  /** Set if errors about field selectors name the kind, or the version and the kind. */
  readonly isNamedBySelectors?: true | 'withVersion'
  /** Errors about invalid objects name this group, which was the kind's first. */
  readonly groupInMessages?: string
  /** True if its finalizers need no domain. Those of other kinds do, except for the standard finalizers. */
  readonly takesBareFinalizers: boolean
  /** True if a PUT creates an absent object. */
  readonly createsOnUpdate: boolean
  /** True if a PUT without resourceVersion replaces an existing object. */
  readonly replacesUnconditionally: boolean
  /** True if `metadata.generation` counts changes of the desired state. */
  readonly countsGenerations: boolean
  /** True if the generation also counts changes of the status. */
  readonly countsStatus: boolean
  /** True for namespaces. A namespace is in itself, and its path also names it as the namespace. */
  readonly isPlace?: true
  /** Metadata that a write of the status cannot change. */
  readonly statusKeeps: readonly (keyof ObjectMeta & string)[]
}

export interface SubresourceDefinition {
  readonly name: string
  /** The first and the last level that have it, by minor version. */
  readonly since?: number
  readonly until?: number
  /** The type of the body, if it is not that of the resource. */
  readonly type?: string
  /** Defaults of this body. */
  readonly defaults?: Defaulter
  readonly verbs: readonly string[]
  /** The type of the query parameters. */
  readonly optionsType?: string
  /** HTTP methods of a subresource that opens a connection. */
  readonly connect?: readonly string[]
  /** The other end of the connection; undefined if it is not a connection or ends in a container. */
  readonly reaches?: 'node' | 'endpoints' | 'pod'
  /** True if a path may follow the name. */
  readonly hasSubpath?: boolean
  /** The media type of an answer that is not an API object. */
  readonly produces?: string
  /** The feature gate without which writes are dropped. */
  readonly featureGate?: string
}

/** Completes an object in place. */
export type Defaulter = (object: Draft, names: Names, isGateOn: IsGateOn, level: number) => void

/** The errors of an object; `live` is the replaced one. */
type Rule = (object: Part, live: Part | undefined, names: Names, context: RuleContext) => FieldError[]

/** A rule for objects that take long to validate. */
type RuleInSteps = (...given: Parameters<Rule>) => Steps<FieldError[]>

/**
 * The error of kube-apiserver's conversion of an object, such as a malformed number in an annotation, which makes a body a 400.
 * Undefined if it can be converted.
 */
export type Unreadable = (object: Part) => string | undefined

/** Rules of a kind as functions, for the part of the object that a request writes. Default: the rules of the stored type. */
export interface Rules {
  readonly main?: Rule | RuleInSteps
  readonly status?: Rule
  /** Rules of subresources that write parts of the desired state. Default: the rules of `main`. */
  readonly parts?: Readonly<Record<string, Rule>>
}

/** The level and the gates of a warning. */
export interface WarningContext {
  readonly level: number
  readonly isGateOn: IsGateOn
}

/** The warnings for the writer of a valid object; `live` is the replaced one. */
export type WarningRule = (object: Part, live: Part | undefined, names: Names, at: WarningContext) => string[]

const allVerbs: readonly string[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const ordinary = {
  shortNames: [],
  categories: [],
  verbs: allVerbs,
  backing: 'stored',
  subresources: [],
  nameKind: 'subdomain',
  rechecksName: false,
  deleteAnswer: 'status',
  defaultPropagation: 'Background',
  takesBareFinalizers: false,
  createsOnUpdate: false,
  replacesUnconditionally: true,
  countsGenerations: false,
  countsStatus: false,
  statusKeeps: [],
} as const

type Ordinary = keyof typeof ordinary | 'plural' | 'storedAs' | 'storageVersion'
interface Given extends Omit<KindDefinition, Ordinary | 'kind' | 'versions'>, Partial<Pick<KindDefinition, Ordinary>> {
  readonly versions?: Readonly<Record<string, Omit<VersionDefinition, 'type'>>>
}

/**
 * Defines a kind by its first group and its name: `apps.Deployment`. A version is named `v1`, or `events/v1` if it is in another group. A replacement
 * that is another kind is named by its type. Omitted members have the defaults of most kinds: objects are stored in the last version.
 */
export function defineResource(groupKind: `${string}.${string}`, { versions = { v1: {} }, ...given }: Given): KindDefinition {
  const [group = '', kind = ''] = groupKind.split('.')
  const typeOf = (version: string) =>
    version.includes('.') ? version : `${version.includes('/') ? version : `${group}/${version}`}.${kind}`
  const storageVersion = given.storedAs ?? Object.keys(versions).at(-1) ?? ''
  return {
    ...ordinary,
    kind,
    plural: usualPlural(kind.toLowerCase()),
    ...(given.answeredBy === undefined ? {} : { verbs: ['create'], backing: 'virtual' }),
    storageVersion: (given.answeredBy ?? given.backing) === undefined ? storageVersion : undefined,
    ...given,
    storedAs: typeOf(storageVersion),
    versions: Object.entries(versions).map(([version, { deprecated, ...more }]) => {
      const { replacement } = deprecated ?? {}
      const named = deprecated && { ...deprecated, ...(replacement === undefined ? {} : { replacement: typeOf(replacement) }) }
      return { type: typeOf(version), ...more, ...(named === undefined ? {} : { deprecated: named }) }
    }),
  }
}

function usualPlural(singular: string): string {
  if (/[sx]$/.test(singular)) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

const partVerbs: readonly string[] = ['get', 'patch', 'update']
export const statusSubresource: SubresourceDefinition = { name: 'status', verbs: partVerbs }
export const scaleSubresource: SubresourceDefinition = { name: 'scale', type: 'autoscaling/v1.Scale', verbs: partVerbs }

/** The metadata that a writer of a status, and of other parts of a Pod, cannot change; other values in a body are ignored. */
export const writersMetadata: KindDefinition['statusKeeps'] = [
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'deletionTimestamp',
]
