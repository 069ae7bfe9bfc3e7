import type { ApiObject } from '@orch/core/meta'
import type { ChangeDraft, Draft, Plan, Reservation, WriteStep } from './draft.ts'
import type { Live } from './live.ts'

type AnyDraft = Draft<Live | undefined, Plan>

/** A kind's holdings outside its objects, such as the addresses of Services. */
export interface Reserver {
  /** Reserves the holdings that the object of a draft wants and lacks, after it was found valid. It refuses by throwing, and then holds nothing. */
  reserve(draft: AnyDraft): Promise<Reservation>
  /** Reserves the needs of an object that is marked for deletion; undefined if it needs nothing. */
  reserveMark?(draft: ChangeDraft): Promise<Reservation>
  /** Releases the holdings of a deleted object. It never fails: a sweep releases the rest later. */
  release(object: ApiObject): Promise<void>
}

/** Finds the reserver of a kind by its storage prefix: built-in kinds by name, and all custom kinds the same. */
export class Reservers {
  readonly #builtIn: ReadonlyMap<string, Reserver | undefined>
  readonly #custom: Reserver

  constructor(builtIn: ReadonlyMap<string, Reserver | undefined>, custom: Reserver) {
    this.#builtIn = builtIn
    this.#custom = custom
  }

  get(prefix: string): Reserver | undefined {
    return this.#builtIn.get(prefix) ?? (this.#builtIn.has(prefix) ? undefined : this.#custom)
  }
}

/** The dependencies of reserving. */
export interface ReserveParts {
  /** By the storage prefix of the kind. */
  readonly reservers: Pick<ReadonlyMap<string, Reserver>, 'get'>
}

/** Reserves the kind's holdings outside the object. */
export const reserve: WriteStep<ReserveParts, AnyDraft> = (draft, { reservers }) => {
  const reserver = reservers.get(draft.write.target.served.resource.stored.prefix)
  if (reserver !== undefined) return takeReservation(draft, reserver.reserve(draft))
}

/** Takes the reservation of an object that is marked for deletion. */
export const reserveMark: WriteStep<ReserveParts, ChangeDraft> = (draft, { reservers }) => {
  const reservation = reservers.get(draft.write.target.served.resource.stored.prefix)?.reserveMark?.(draft)
  if (reservation !== undefined) return takeReservation(draft, reservation)
}

async function takeReservation(draft: AnyDraft, reserving: Promise<Reservation>): Promise<void> {
  const reservation = await reserving
  draft.reservation = reservation
  draft.object = reservation.object ?? draft.object
  draft.conditions = [...draft.conditions, ...(reservation.conditions ?? [])]
}

/** At the end of an attempt, keeps or releases its reservations, and the holdings of a deleted object. */
export async function settleReservation(draft: AnyDraft, { reservers }: ReserveParts): Promise<void> {
  const isCommitted = draft.revision !== undefined
  const isRemoved = isCommitted && draft.outcome?.kind === 'removed'
  if (isCommitted && !isRemoved) await draft.reservation?.settle()
  else await draft.reservation?.release()
  if (isRemoved && draft.live !== undefined)
    await reservers.get(draft.write.target.served.resource.stored.prefix)?.release(draft.live.object)
}
