import type { ApiObject } from '@orch/core/meta'
import type { GatewayRequest } from '../request.ts'
import type { Target } from '../target.ts'
import type { Candidate } from './candidate.ts'
import type { Live } from './live.ts'
import type { WriteOptions } from './options.ts'

/** What the first step of a write wants to happen, given what is there. */
export type Intent =
  /** The object is given when it is asked for, so that nobody need keep it while the disk is waited for. */
  | { readonly kind: 'create'; readonly take: () => Promise<Candidate> }
  | { readonly kind: 'update'; readonly candidate: Candidate }
  /** The object stays for now, and is marked as going. */
  | { readonly kind: 'mark'; readonly object: ApiObject }
  | { readonly kind: 'remove' }
  | { readonly kind: 'nothing' }

export interface Write {
  readonly request: GatewayRequest
  readonly target: Target
  /** '' for a create: the name is in the object. */
  readonly name: string
  readonly options: WriteOptions
  /** What admission is told of the options. */
  readonly optionsObject: unknown
  /** The only part in which writes differ. It refuses by throwing, and may be called again with a newer object. */
  readonly step: (live: Live | undefined) => Intent | Promise<Intent>
  /** Absent: admission sees the object itself. */
  readonly shownAs?: ShownAs
  /** Admission has been asked about the request already, which is more than this write. */
  readonly isAdmitted?: boolean
}

/** How admission sees an object that is written through a subresource with a kind of its own. */
export interface ShownAs {
  readonly kind: string
  show(object: ApiObject): ApiObject
  /** What admission has changed there is brought back into the object. */
  take(object: ApiObject, shown: ApiObject): ApiObject
}

/** A write under way. */
export interface PlannedWrite extends Write {
  /** The same for all attempts. */
  readonly id: string
}

/** What a write has led to. `json` is the object as it is served, in the stored version. */
export interface Written {
  readonly kind: 'created' | 'updated' | 'marked' | 'removed' | 'unchanged'
  readonly json: Uint8Array
  readonly uid: string
}
