import type { IsGateOn } from '../feature-gates.ts'
import type { Names } from '../names.ts'
import type { Behaviour, KindDefinition, SubresourceDefinition } from './define-resource.ts'
import type { KindReaders } from './kind-readers.ts'

/** Group, version and kind of an object. */
export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The conversion webhook of a definition. */
export interface ConversionWebhook {
  /** Name of the definition: `widgets.example.com`. */
  readonly definition: string
  /** The `clientConfig` of the definition. */
  readonly clientConfig: Readonly<Record<string, unknown>>
  /** Supported versions of reviews, the preferred one first. */
  readonly reviewVersions: readonly string[]
}

/** One resource in one served version. */
export interface Resource extends Gvk, Behaviour {
  readonly plural: string
  readonly singular: string
  /** The singular in unaggregated discovery. Level 1.25 leaves it empty for built-in kinds; clients derive it from the kind. */
  readonly shownSingular: string
  readonly listKind: string
  /** The value of `apiVersion`: `v1`, `apps/v1`. */
  readonly apiVersion: string
  /** Name of the type of its objects: `core/v1.Pod`. */
  readonly type: string
  /** The key under which gateways find the kind's side effects. Default: none. */
  readonly hooks?: string
  /** The readers of its objects. */
  readonly readers: KindReaders
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
  /** True while its definition is being deleted: all verbs are served, even if discovery omits them, and no object can be created. */
  readonly isTerminating?: true
  /** True if a path without a required namespace is a 404 instead of a 405. */
  readonly hasStrictPaths?: true
  readonly backing: KindDefinition['backing']
  readonly answeredBy?: KindDefinition['answeredBy']
  readonly subresources: readonly Subresource[]
  /** Group, version and kind of the stored form, whose hash discovery shows: `apps/v1/Deployment`. */
  readonly hashedType?: string
  /** True if only `--runtime-config` enables it. */
  readonly isOffByDefault?: true
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: Gvk }
  /** A text about the definition of a custom resource, which changes whenever the definition does. */
  readonly definedBy?: string
  /** The warning of a version that its definition deprecates. */
  readonly deprecationWarning?: string
  /** The webhook that converts between versions; undefined if only the version changes. */
  readonly conversion?: ConversionWebhook
  /** Other served versions of a custom kind without a conversion webhook. Default: none. */
  readonly otherVersions?: readonly string[]
  /**
   * For a custom kind with several versions: the readers of any version, served or not. An object may have been stored in any version, and is read
   * with the schema of that version.
   */
  readonly readersOf?: (apiVersion: string) => KindReaders | undefined
  /** The stored form of its objects. All versions of a kind share it, and so may kinds of two groups. */
  readonly stored: StoredForm
  /** Accepted field selector label → label in the stored object. */
  readonly fieldLabels: Readonly<Record<string, string>>
}

export interface StoredForm extends Gvk {
  readonly apiVersion: string
  readonly type: string
  /** The first part of the keys, without leading and trailing slashes: `core/pods`. */
  readonly prefix: string
  /** The readers of the stored version. */
  readonly readers: KindReaders
}

export interface Subresource
  extends Gvk,
    Pick<SubresourceDefinition, 'name' | 'verbs' | 'optionsType' | 'connect' | 'reaches' | 'hasSubpath' | 'produces'> {
  readonly type: string
  /** The readers of its bodies. */
  readonly readers: KindReaders
  readonly apiVersion: string
  /** The paths of a Scale's numbers in the object. Default: those of built-in kinds. */
  readonly scalePaths?: ScalePaths
  /** True if its feature gate is off: reads are allowed, and writes are dropped. */
  readonly dropsWrites?: true
}

/** A served group with its versions in order of preference. */
export interface Group {
  readonly name: string
  readonly versions: readonly string[]
}

/** All served resources, which can be found by path, by kind or by storage prefix. */
export interface Catalogue {
  readonly names: Names
  readonly isGateOn: IsGateOn
  /** The minor version of the release whose types and kinds it has. */
  readonly level: number
  /** In the order of `/apis`, then of definition. */
  readonly resources: readonly Resource[]
  /** Groups in the order of `/apis`, without the core group. */
  readonly groups: readonly Group[]
  /** Finds one of these groups by name. */
  group(name: string): Group | undefined
  find(group: string, version: string, plural: string): Resource | undefined
  findKind(gvk: Gvk): Resource | undefined
  /** The readers of a kind that may be in a body, even if it is not a resource: options, reviews, Scale, lists. */
  readersOfKind(gvk: Gvk): KindReaders | undefined
  /** The resources of a group version in order of definition; empty if it is not served. */
  inGroupVersion(group: string, version: string): readonly Resource[]
  /** The resource whose objects have this storage prefix, in the preferred version. */
  findStored(prefix: string): Resource | undefined
}

/** The paths of a Scale's values in an object: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}
