import type { fieldSets } from '@orch/core/apply'
import type { User } from '@orch/core/contracts'
import type { ApiObject, FieldError, ObjectMeta } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { MutableBuiltIn, TypeName } from '@orch/core/schema'
import type { IssuedCertificate } from '../server/metrics.ts'
import type { Surroundings } from '../surroundings.ts'

/**
 * The hooks of a kind with specific rules. All functions may change `object`, which belongs to the write. The rules of a built-in kind name the type of
 * its objects: `RulesOf<'core/v1.Pod'>`.
 */
export interface KindRules<Kept = ApiObject> {
  /** Additional warnings for the writer of a valid object. `level` is the minor version of the release. */
  warnings?(object: Kept, names: Names, level: number): readonly string[]
  /** True if a new object keeps its writer's status. */
  readonly keepsGivenStatus?: true
  /** Derives members of a new object, and warns about them, for valid and invalid objects. */
  deriveNew?(object: Kept, context: NewObjectContext): void
  /** Before the object is validated for creation. `level` is the minor version of the release of the rules. */
  prepareCreate?(object: Kept, names: Names, user: User, level: number): void
  /** Before the object is validated for an update of its main part. */
  prepareUpdate?(object: Kept, live: Kept): void
  /** Sets missing times, after the defaults of an object. `now` is the time to set. */
  fillTimes?(object: Kept, now: string): void
  /** Adds the members that kube-apiserver shows although the stored object lacks them, such as one of an older release. */
  fillStored?(object: Kept): void
  /** After the defaults of an update of any part, and after mutating admission. */
  completeUpdate?(object: Kept, live: Kept, context: UpdateContext): void
  /** Decides which changes count for the generation, which a new object then lacks. By default all except metadata and status. */
  countsOnly?(object: Kept, live: Kept, level: number): boolean
  /** True if the generation is always 1. */
  readonly keepsGeneration?: true
  /** True if a deletion mark does not count for the generation. */
  readonly deletesUncounted?: true
  /** True if a change outside of the counted part counts for the generation too. */
  countsChange?(object: Kept, live: Kept): boolean
  /** Rules in addition to the catalogue's. */
  validate?(object: Kept, live: Kept | undefined): readonly FieldError[]
  /** The errors of a new object by `validate` come after the catalogue's. */
  readonly isValidatedLast?: true
  /** The grace period of a delete in seconds, 0 for none. Undefined if the kind has no graceful deletion. */
  graceSeconds?(object: Kept, asked: number | undefined): number
  /** Changes the object when it is marked for deletion. */
  prepareDeletion?(object: Kept, names: Names): void
  /** True if something besides `metadata.finalizers` still holds the object. */
  isHeld?(object: Kept): boolean
  /** The form of the status in writes. By default a separately written part. */
  readonly status?: ObjectPart
  /** Fields that a write of a part may set without becoming their manager; by default the fields of the other parts. */
  unmarked?(subresource: string | undefined, level: number): fieldSets.FieldSet | undefined
  /** The certificate that a stored write has issued; undefined for none, or for one that is not counted. */
  issued?(object: Kept, live: Kept, names: Names): IssuedCertificate | undefined
  /** True if its objects are device claims, whose writer may need more rights than those of the request. */
  readonly isForDevices?: true
  /** True if objects are deleted after a configured time. */
  readonly expires?: true
  /** The host of an object for connections; undefined before it has one. */
  hostOf?(object: Kept): Host | undefined
  /** True if its objects grant permissions, which a writer must have. */
  readonly grants?: Grants
  /** True if its objects refer to objects that the server reads, which a writer must be allowed to read. */
  readonly reads?: Reads
  /** True if its objects define resources: a write is answered when this gateway serves them. */
  readonly definesResources?: true
}

/** The facts of an update. */
export interface UpdateContext extends Pick<Surroundings, 'names' | 'level' | 'clock'> {
  /** The written part; undefined for the main part. */
  readonly subresource: string | undefined
  readonly isGateOn: (feature: string) => boolean
  /** The object as it was sent, or as a patch left it, with empty lists. */
  readonly body: unknown
}

/** The server's facts for a new object. */
export interface NewObjectContext extends Pick<Surroundings, 'names' | 'level'> {
  isGateOn(name: string): boolean
  warn(text: string): void
}

/** The object, in no namespace, that another one runs on. */
export interface Host {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly name: string
}

/** The rights that an object grants: by its rules, or by the role that it names. */
export type Grants = 'rules' | 'role'

/** The objects read for an object: all of its parameter kind, or the parameters that it refers to. */
export type Reads = 'paramKind' | 'paramRef'

/** The rules of a built-in kind, by the type of its objects. */
export type RulesOf<Name extends TypeName> = KindRules<MutableBuiltIn<Name>>

/** The changes that a subresource of the object allows. */
export interface ObjectPart {
  /** The live object with the writer's part; `now` is the time to set. */
  merge(given: ApiObject, live: ApiObject, now: string): ApiObject
  /** Metadata that a writer of this part cannot change. By default all of it. */
  readonly keptMetadata?: readonly MetadataField[]
  /** Rules of this part. By default the catalogue's. */
  validate?(object: ApiObject, live: ApiObject): readonly FieldError[]
  /** Rules on top of the catalogue's. `nowMs` is wall clock. */
  validateToo?(object: ApiObject, live: ApiObject, nowMs: number): readonly FieldError[]
  /** True if the part is the wanted state, which counts for the generation. */
  readonly isWanted?: boolean
}

export type MetadataField = keyof ObjectMeta & string
