import type { IsGateOn } from '../feature-gates.ts'
import type { ObjectMeta } from '../meta/object-meta.ts'
import type { FieldError } from '../meta/status.ts'
import type { NameCheck, NameKind } from '../meta/validate-names.ts'
import type { Names } from '../names.ts'
import type { Measure } from '../quota/measures.ts'
import type { Steps } from '../steps.ts'
import type { KindTable } from '../table/kind-table.ts'
import type { Part } from '../validation/part.ts'
import type { RuleContext } from '../validation/rule-book.ts'
import type { Draft } from './draft.ts'
import type { Reshape } from './reshape.ts'
import type { SelectableFields } from './selectable-fields.ts'

/** Everything that is particular to one kind beside the type of its objects, before a profile has given its group a name. */
export interface KindDefinition extends Behaviour {
  readonly kind: string
  /** The served versions. */
  readonly versions: readonly VersionDefinition[]
  /** The type in which its objects are stored, whichever version is served. */
  readonly storedAs: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly verbs: readonly string[]
  /** `stored`: kept by storage. `virtual`: a question that is answered and forgotten. `computed`: made up on each read. */
  readonly backing: 'stored' | 'virtual' | 'computed'
  /** The handler of a question that is not stored. */
  readonly answeredBy?: 'accessReview' | 'rulesReview' | 'tokenReview' | 'selfReview' | 'binding'
  readonly subresources: readonly SubresourceDefinition[]
  /** Opaque text by which clients notice that the stored version has changed. */
  readonly storageVersionHash?: string
  /** Level → the changes from it on. */
  readonly changes?: Readonly<Record<number, KindChange>>
  /** Its objects' use of a quota. Absent: one each. */
  readonly quota?: Measure
  readonly selectable?: SelectableFields
  readonly defaults?: Defaulter
  readonly unreadable?: Unreadable
  readonly validation?: Rules
  readonly warnings?: WarningRule
  /** Warnings for the writer of a status. */
  readonly statusWarnings?: WarningRule
  /** Absent: names and when the objects were created. */
  readonly table?: KindTable
}

/** The change of a kind at a level; undefined removes a member. */
type KindChange = Partial<Pick<KindDefinition, 'storageVersionHash' | 'shortNames' | 'nameKind' | 'countsGenerations'>> & {
  readonly groupInMessages?: undefined
}

/** A kind in one version. What is absent is that of the kind. */
export interface VersionDefinition {
  /** The type of its objects: `core/v1.Pod`. Its package names group and version. */
  readonly type: string
  /** First level and last level that serve it, by their minor numbers; `deprecated.removed` says the last one, too. */
  readonly since?: number
  readonly until?: number
  /** It is served where `--runtime-config` asks for it. */
  readonly isOffByDefault?: true
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: string }
  readonly defaults?: Defaulter
  readonly unreadable?: Unreadable
  readonly validation?: Rules
  /** Absent: its objects differ from stored ones in `apiVersion` alone. */
  readonly reshape?: Reshape
  /** Accepted field selector label → label of the stored object. */
  readonly fieldLabels?: Readonly<Record<string, string>>
}

/** The differences between kinds besides their fields. */
export interface Behaviour {
  /** The allowed names of its objects; a check where they depend on more than the kind. */
  readonly nameKind: NameKind | ((object: Part) => NameCheck)
  /**
   * The answer of a successful delete. `object`: the object; `status`: a Status once it is gone, the object while finalizers
   * hold it; `statusUnasked`: a Status also if only the kind's default policy holds it.
   */
  readonly deleteAnswer: 'object' | 'status' | 'statusUnasked'
  /** The default propagation of a deletion to dependants. */
  readonly defaultPropagation: 'Background' | 'Orphan'
  /** Warning for a client that deletes without a policy. */
  readonly defaultPropagationWarning?: string
  /** The refusal of a field selector names the kind, or the version and the kind. */
  readonly isNamedBySelectors?: true | 'withVersion'
  /** Messages on invalid objects name this group, in which the kind was first. */
  readonly groupInMessages?: string
  /** Its finalizers need no domain. Those of other kinds do, except for the standard ones. */
  readonly takesBareFinalizers: boolean
  /** A PUT to a name that is not taken creates the object. */
  readonly createsOnUpdate: boolean
  /** A PUT without resourceVersion replaces any present object. */
  readonly replacesUnconditionally: boolean
  /** `metadata.generation` counts changes of the wanted state. */
  readonly countsGenerations: boolean
  /** It counts changes of the status, too. */
  readonly countsStatus: boolean
  /** Its objects are the namespaces of others. Each is in itself, and its path names it as namespace, too. */
  readonly isPlace?: true
  /** Metadata that a writer of the status cannot change. */
  readonly statusKeeps: readonly (keyof ObjectMeta & string)[]
}

export interface SubresourceDefinition {
  readonly name: string
  /** First level and last level that have it, by their minor numbers. */
  readonly since?: number
  readonly until?: number
  /** Type of the body, where it is not the resource's own. */
  readonly type?: string
  /** Defaults of such a body. */
  readonly defaults?: Defaulter
  readonly verbs: readonly string[]
  /** Type that the query parameters are read as. */
  readonly optionsType?: string
  /** Methods of a subresource that is a tunnel to somewhere else. */
  readonly connect?: readonly string[]
  /** The end of a connection through it. Absent if it is no connection, or ends in a container. */
  readonly reaches?: 'node' | 'endpoints' | 'pod'
  /** True if a path may follow the subresource's name. */
  readonly hasSubpath?: boolean
  /** Media type of the answer, where it is not an API object. */
  readonly produces?: string
  /** Writes through it are dropped unless this feature gate is on. */
  readonly featureGate?: string
}

/** Completes an object in place. */
export type Defaulter = (object: Draft, names: Names, isGateOn: IsGateOn, level: number) => void

/** The errors of an object; `live` is the replaced one. */
type Rule = (object: Part, live: Part | undefined, names: Names, context: RuleContext) => FieldError[]

/** A rule of objects that take long to look at. */
type RuleInSteps = (...given: Parameters<Rule>) => Steps<FieldError[]>

/**
 * The failure of kube-apiserver's conversion of an object, such as a malformed number in an annotation: the body is a 400 then.
 * Undefined for none.
 */
export type Unreadable = (object: Part) => string | undefined

/** Rules of one kind in functions, for the part of the object that a request writes. Absent: those of the stored type. */
export interface Rules {
  readonly main?: Rule | RuleInSteps
  readonly status?: Rule
  /** By subresources that are parts of the wanted state. Absent: the rules of `main`. */
  readonly parts?: Readonly<Record<string, Rule>>
}

/** The warnings for the writer of a valid object; `live` is the replaced one. */
export type WarningRule = (object: Part, live: Part | undefined, names: Names, level: number) => string[]

const allVerbs: readonly string[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

const ordinary = {
  shortNames: [],
  categories: [],
  verbs: allVerbs,
  backing: 'stored',
  subresources: [],
  nameKind: 'subdomain',
  deleteAnswer: 'status',
  defaultPropagation: 'Background',
  takesBareFinalizers: false,
  createsOnUpdate: false,
  replacesUnconditionally: true,
  countsGenerations: false,
  countsStatus: false,
  statusKeeps: [],
} as const

type Given = Omit<KindDefinition, keyof typeof ordinary> & Partial<Pick<KindDefinition, keyof typeof ordinary>>

/** A kind; absent members have the defaults of most kinds. */
export function defineResource(given: Given): KindDefinition {
  return { ...ordinary, ...given }
}

const partVerbs: readonly string[] = ['get', 'patch', 'update']
export const statusSubresource: SubresourceDefinition = { name: 'status', verbs: partVerbs }
export const scaleSubresource: SubresourceDefinition = { name: 'scale', type: 'autoscaling/v1.Scale', verbs: partVerbs }

/** All metadata that writers of the main part may change. */
export const writersMetadata: KindDefinition['statusKeeps'] = ['labels', 'annotations', 'ownerReferences', 'finalizers']
