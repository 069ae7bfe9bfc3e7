import type { Catalogue } from '@orch/core/catalogue'
import type { CommitRequest, User } from '@orch/core/contracts'
import type { ApiObject, FieldError, ManagedFieldsEntry, StatusError } from '@orch/core/meta'
import type { EncodedObject } from '@orch/core/stored'
import type { Admitted } from '../admission/admitter.ts'
import type { GatewayRequest } from '../request/request.ts'
import type { Target } from '../target/target.ts'
import type { Candidate } from './candidate.ts'
import type { Live } from './live.ts'
import type { WriteOptions } from './options.ts'

/** The writer's facts for the steps that every new object takes. */
export interface Origin
  extends Pick<GatewayRequest, 'isLarge' | 'deadlineMs' | 'auditId' | 'trace' | 'explanation' | 'warn'>,
    Partial<Pick<GatewayRequest, 'committed'>> {
  readonly user: User
}

/** The target of a write, and its options. */
export interface Plan<Request extends Origin = Origin> {
  /** Identifies the write in all its attempts. */
  readonly id: string
  readonly request: Request
  readonly target: Target
  /** '' for a create: the name is in the object. */
  readonly name: string
  readonly options: WriteOptions
}

/** A write that a verb asks for. */
export interface Write extends Omit<Plan<GatewayRequest>, 'id'> {
  /** The options as admission sees them. */
  readonly optionsObject: unknown
  /**
   * The verb's own step, the first of every list: the intended change, given the live object. It refuses by throwing, and
   * is taken again with a newer object.
   */
  readonly decide: (live: Live | undefined) => Intent | Promise<Intent>
  /** Undefined if admission sees the object itself. */
  readonly shownAs?: ShownAs
  /** Admission has been asked about the request already, which is more than this write. */
  readonly isAdmitted?: boolean
}

/** A write under way. */
export type PlannedWrite = Write & Plan<GatewayRequest>

/** The intended change of an object. The kind names the list of steps that follows. */
export type Intent =
  | { readonly kind: 'create'; readonly candidate: Candidate }
  | { readonly kind: 'update'; readonly candidate: Candidate; readonly live: Live }
  /** The object stays, marked as being deleted. */
  | { readonly kind: 'mark'; readonly object: ApiObject; readonly live: Live }
  /** The write removes the object. The answer shows the object unchanged, or with the marks of its deletion. */
  | { readonly kind: 'remove'; readonly object?: ApiObject; readonly live: Live }
  | { readonly kind: 'nothing'; readonly live: Live }

/** Admission's view of an object that is written through a subresource with a kind of its own. */
export interface ShownAs {
  readonly kind: string
  show(object: ApiObject): ApiObject
  /** Brings admission's changes back into the object. */
  take(object: ApiObject, shown: unknown): ApiObject
}

/** The result of a write. `json` is the object as the present schema has it, in the stored version. */
export interface Written {
  readonly kind: 'created' | 'updated' | 'marked' | 'removed' | 'unchanged'
  readonly json: Uint8Array
  /** The object that the bytes print, frozen; undefined if it is not cached. */
  readonly object?: ApiObject | undefined
  /** For an object that a webhook has to convert before it is shown: the fingerprint of its stored schema. */
  readonly fingerprint?: number | undefined
  readonly uid: string
}

/** Another write was faster. `refusal` is the answer after the last attempt; undefined for a conflict. */
export interface Again {
  readonly kind: 'again'
  readonly refusal?: StatusError
}

/** A further condition of a commit. */
export type Condition = CommitRequest['conditions'][number]

/** The feature gates, which are constant for a running gateway. */
export interface GateParts {
  readonly isGateOn: Catalogue['isGateOn']
  /** Minor number of the release whose rules and texts they are. */
  readonly level: number
}

/** An object in the stored version, and its JSON. */
export interface Encoding {
  readonly stored: ApiObject
  readonly encoded: EncodedObject
}

/** A kind's holdings outside its object, taken for one attempt. */
export interface Reservation {
  /** The object with its reservations; undefined if it is unchanged. */
  readonly object?: ApiObject
  /** Conditions of the object's commit. */
  readonly conditions?: readonly Condition[]
  /** The object was written: resources that it no longer needs are released, now or later. */
  readonly settle: () => Promise<void>
  /** The object was not written, or was deleted: its reservations are released, now or later. */
  readonly release: () => Promise<void>
}

/**
 * One attempt of a write: the live object, the new one, and the results and reservations on the way. Each step reads
 * its inputs and leaves its results; a step that sets `outcome` ends the attempt.
 */
export class Draft<Before extends Live | undefined = Live | undefined, W extends Plan = PlannedWrite> {
  readonly write: W
  /** The object before the write; undefined for a create. */
  readonly live: Before
  /** The object as its writer sent it. */
  given: ApiObject
  /** The object to write, as far as the steps have come. It belongs to the write and may be changed in place. */
  object: ApiObject
  /** The object as it was sent, or as a patch left it. */
  body: unknown
  readonly hasBigIntegers: boolean
  /** Owners of its fields, where the verb has found them: an apply. */
  readonly owners: ManagedFieldsEntry[] | undefined
  /** Errors that are reported together with those of validation. */
  errors: readonly FieldError[] = []
  /** The answer of mutating admission, which may contain the verdict of validating admission. */
  mutation: Admitted | undefined
  /** Conditions of the object's commit. */
  conditions: readonly Condition[] = []
  /** Admission's reservations for the write. */
  reservations: readonly string[] = []
  /** The kind's reservation for the write. */
  reservation: Reservation | undefined
  /** For an update: the bytes to store. */
  encoding: Encoding | undefined
  /** The commit is under way or done. */
  isSent = false
  /** The committed revision; undefined if nothing was written. */
  revision: number | undefined
  outcome: Written | Again | undefined

  constructor(write: W, live: Before, { object, hasBigIntegers, body, owners }: Omit<Candidate, 'problems'>) {
    this.write = write
    this.live = live
    this.given = object
    this.object = object
    this.body = body
    this.hasBigIntegers = hasBigIntegers || live?.hasBigIntegers === true
    this.owners = owners
  }
}

/** A draft of an object that is not there yet, asked for by a request or by the server itself. */
export type NewDraft<W extends Plan = PlannedWrite> = Draft<undefined, W>

/** A draft of a change of an object. */
export type ChangeDraft = Draft<Live>

/** One step of a write, and the parts it needs. It refuses by throwing. A promise is waited for only where one is returned. */
export type WriteStep<Parts, D = Draft> = (draft: D, parts: Parts) => void | Promise<void>
