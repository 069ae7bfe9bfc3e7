import type { User } from '@orch/core/contracts'
import type { ApiObject, FieldError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { MutableBuiltIn, TypeName } from '@orch/core/schema'

/**
 * The hooks of a kind that has rules of its own. All functions may change `object`, which is the write's own. The rules of a
 * built-in kind say of which type its objects are: `RulesOf<'core/v1.Pod'>`.
 */
export interface KindRules<Kept = ApiObject> {
  /** A warning for clients that create an object that is kept but has no effect here. */
  readonly warning?: string
  /** Before the object is validated for creation. */
  prepareCreate?(object: Kept, names: Names, user: User): void
  /** Before the object is validated for an update of its main part. */
  prepareUpdate?(object: Kept, live: Kept): void
  /** When an update of any part has its defaults, and mutating admission has been asked. */
  completeUpdate?(object: Kept, live: Kept): void
  /** Which changes count for the generation, which a new object then has none of. Absent: all but those of metadata and status. */
  countsOnly?(object: Kept, live: Kept): boolean
  /** The generation is 1 for ever. */
  readonly keepsGeneration?: true
  /** Being marked for deletion does not count for the generation. */
  readonly deletesUncounted?: true
  /** Whether a change outside of what is always counted counts for the generation too. */
  countsChange?(object: Kept, live: Kept): boolean
  /** Rules on top of those of the catalogue. */
  validate?(object: Kept, live: Kept | undefined): readonly FieldError[]
  /** Seconds that a delete leaves the object, 0: none. Absent: the kind has no graceful deletion. */
  graceSeconds?(object: Kept, asked: number | undefined): number
  /** Changes the object when it is marked for deletion. */
  prepareDeletion?(object: Kept, names: Names): void
  /** Something beside `metadata.finalizers` still holds the object. */
  isHeld?(object: Kept): boolean
}

/** The rules of a built-in kind, by the type that its objects are stored as. */
export type RulesOf<Name extends TypeName> = KindRules<MutableBuiltIn<Name>>
