import type { fieldSets } from '@orch/core/apply'
import type { User } from '@orch/core/contracts'
import type { ApiObject, FieldError, ObjectMeta } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { MutableBuiltIn, TypeName } from '@orch/core/schema'
import type { IssuedCertificate } from '../server/metrics.ts'

/**
 * The hooks of a kind that has rules of its own. All functions may change `object`, which is the write's own. The rules of a
 * built-in kind say of which type its objects are: `RulesOf<'core/v1.Pod'>`.
 */
export interface KindRules<Kept = ApiObject> {
  /** Warnings on top of the catalogue's, for the writer of a valid object. `level` is the minor number of the release. */
  warnings?(object: Kept, names: Names, level: number): readonly string[]
  /** A new object keeps the status that its writer gives it. */
  readonly keepsGivenStatus?: true
  /** Derives members of a new object from other ones, and warns about those, whether or not the object is valid. */
  deriveNew?(object: Kept, context: NewObjectContext): void
  /** Before the object is validated for creation. `level` is the minor number of the release whose rules they are. */
  prepareCreate?(object: Kept, names: Names, user: User, level: number): void
  /** Before the object is validated for an update of its main part. */
  prepareUpdate?(object: Kept, live: Kept): void
  /** Times that are absent, when an object has its defaults. `now` is the time that the server fills in. */
  fillTimes?(object: Kept, now: string): void
  /** When an update of any part has its defaults, and mutating admission has been asked. */
  completeUpdate?(object: Kept, live: Kept, context: UpdateContext): void
  /** Decides which changes count for the generation, which a new object then has none of. Absent: all but those of metadata and status. */
  countsOnly?(object: Kept, live: Kept, level: number): boolean
  /** The generation is 1 for ever. */
  readonly keepsGeneration?: true
  /** Being marked for deletion does not count for the generation. */
  readonly deletesUncounted?: true
  /** True if a change outside the part that is always counted counts for the generation too. */
  countsChange?(object: Kept, live: Kept): boolean
  /** Rules on top of the catalogue's. */
  validate?(object: Kept, live: Kept | undefined): readonly FieldError[]
  /** The errors of a new object by `validate` come after the catalogue's. */
  readonly isValidatedLast?: true
  /** Seconds that a delete leaves the object, 0: none. Absent: the kind has no graceful deletion. */
  graceSeconds?(object: Kept, asked: number | undefined): number
  /** Changes the object when it is marked for deletion. */
  prepareDeletion?(object: Kept, names: Names): void
  /** Something beside `metadata.finalizers` still holds the object. */
  isHeld?(object: Kept): boolean
  /** The form of the status in writes. Absent: a part of the object that is all its own. */
  readonly status?: ObjectPart
  /** Fields that a write of a part leaves no mark on, though it may set them. Absent, or undefined: the fields of another part. */
  unmarked?(subresource: string | undefined, level: number): fieldSets.FieldSet | undefined
  /** The certificate that a stored write has issued; undefined for none, or for one that is not counted. */
  issued?(object: Kept, live: Kept, names: Names): IssuedCertificate | undefined
  /** Its objects are claims for devices, of which a writer may need more rights than those of the request. */
  readonly isForDevices?: true
  /** Objects are deleted when they have been there for a while, if the server is set so. */
  readonly expires?: true
  /** The host of an object, for connections to it; undefined: it has no place yet. */
  hostOf?(object: Kept): Host | undefined
  /** Its objects grant permissions, so a writer must have those. */
  readonly grants?: Grants
  /** Its objects name objects that are read on behalf of their writer, so a writer must be allowed to read them. */
  readonly reads?: Reads
  /** Its objects define resources: a write is answered when this gateway serves the defined ones. */
  readonly definesResources?: true
}

/** The circumstances of an update. */
export interface UpdateContext {
  readonly names: Names
  /** The written part; undefined: the main one. */
  readonly subresource: string | undefined
  /** Minor number of the release whose rules hold. */
  readonly level: number
  readonly isGateOn: (feature: string) => boolean
}

/** The server as a new object meets it. */
export interface NewObjectContext {
  readonly names: Names
  /** Minor number of the release whose rules they are. */
  readonly level: number
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

/** The rights that an object grants: rules of its own, or those of the role that it names. */
export type Grants = 'rules' | 'role'

/** The objects read for an object: all of the kind of its parameters, or the parameters that it refers to. */
export type Reads = 'paramKind' | 'paramRef'

/** The rules of a built-in kind, by the type that its objects are stored as. */
export type RulesOf<Name extends TypeName> = KindRules<MutableBuiltIn<Name>>

/** The changes that a subresource that is a part of the object allows its writers. */
export interface ObjectPart {
  /** The live object with the writer's part in it; `now` is the time that the server fills in. */
  merge(given: ApiObject, live: ApiObject, now: string): ApiObject
  /** Metadata that a writer of this part cannot change. Absent: all of it. */
  readonly keptMetadata?: readonly MetadataField[]
  /** Rules of this part. Absent: the catalogue's. */
  validate?(object: ApiObject, live: ApiObject): readonly FieldError[]
  /** Rules on top of the catalogue's. `nowMs` is wall clock. */
  validateToo?(object: ApiObject, live: ApiObject, nowMs: number): readonly FieldError[]
  /** The part is the wanted state, and counts for the generation. */
  readonly isWanted?: boolean
}

/** A field of metadata. */
export type MetadataField = keyof ObjectMeta & string
