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
  /** The singular in the older form of discovery. Level 1.25 leaves its own kinds' empty; clients derive it from the kind. */
  readonly shownSingular: string
  readonly listKind: string
  /** The value of `apiVersion`: `v1`, `apps/v1`. */
  readonly apiVersion: string
  /** Name of the type of its objects: `core/v1.Pod`. */
  readonly type: string
  /** The name by which gateways find the kind's effects besides storing. Absent: none, for any name of the kind. */
  readonly hooks?: string
  /** The readers of its objects. */
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
  /** It is served where `--runtime-config` asks for it. */
  readonly isOffByDefault?: true
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: Gvk }
  /** The facts of the definition of a custom resource. Another text where any of them differs. */
  readonly definedBy?: string
  /** The warning for clients of a version that a definition deprecates. */
  readonly deprecationWarning?: string
  /** Converts objects of other versions into this one, and those of this one into others; absent: nothing but the version changes. */
  readonly conversion?: ConversionWebhook
  /** The other versions that serve the objects of a custom kind without such a webhook. Absent: none. */
  readonly otherVersions?: readonly string[]
  /**
   * Of a custom kind in several versions: the readers of one of them, served or not. Objects may have been stored in any, and are read
   * with the schema of theirs.
   */
  readonly readersOf?: (apiVersion: string) => KindReaders | undefined
  /** The stored form of its objects. All versions of a kind share it, and kinds of two groups may. */
  readonly stored: StoredForm
  /** Accepted field selector label → label of the stored object. */
  readonly fieldLabels: Readonly<Record<string, string>>
}

export interface StoredForm extends Gvk {
  readonly apiVersion: string
  readonly type: string
  /** First part of the keys, without slashes at its ends: `core/pods`. */
  readonly prefix: string
  /** The readers of objects of the stored version. */
  readonly readers: KindReaders
}

export interface Subresource extends Gvk {
  readonly name: string
  readonly type: string
  /** The readers of bodies sent to it. */
  readonly readers: KindReaders
  readonly apiVersion: string
  readonly verbs: readonly string[]
  readonly optionsType?: string
  readonly connect?: readonly string[]
  readonly reaches?: SubresourceDefinition['reaches']
  readonly hasSubpath?: boolean
  readonly produces?: string
  /** The paths of the numbers of a Scale in the object. Absent: those of built-in kinds. */
  readonly scalePaths?: ScalePaths
  /** Its feature gate is off: it can be read, and writes through it are dropped. */
  readonly dropsWrites?: true
}

/** A served group, its versions in order of preference. */
export interface Group {
  readonly name: string
  readonly versions: readonly string[]
}

/** Everything that is served, found by path, by kind or by storage prefix. */
export interface Catalogue {
  readonly names: Names
  readonly isGateOn: IsGateOn
  /** Minor number of the release whose types and kinds it has. */
  readonly level: number
  /** In the order of `/apis`, then of definition. */
  readonly resources: readonly Resource[]
  /** Named groups in the order of `/apis`. The core group is not among them. */
  readonly groups: readonly Group[]
  /** The group of this name among them. */
  group(name: string): Group | undefined
  find(group: string, version: string, plural: string): Resource | undefined
  findKind(gvk: Gvk): Resource | undefined
  /** The readers of a kind that may be in a body, whether or not it is a resource: options, reviews, Scale, lists. */
  readersOfKind(gvk: Gvk): KindReaders | undefined
  /** The resources of one group version, in order of definition; empty: the group version is not served. */
  inGroupVersion(group: string, version: string): readonly Resource[]
  /** A resource whose objects are kept under this prefix, in the preferred version. */
  findStored(prefix: string): Resource | undefined
}

/** The paths of the scale subresource's values in an object: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}
