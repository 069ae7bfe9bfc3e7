import type { Entry } from '@orch/core/contracts'
import { parseBytes } from '@orch/core/json'
import { type Amounts, addAmounts, type PrintedAmounts, parseAmounts, printAmounts, roomIn } from '@orch/core/quota'
import { encodeObject, encodeStored, schemaFingerprint } from '@orch/core/stored'

/** Usage of a quota that is reserved for one write until its outcome is known. */
export interface Reservation {
  /** The id of one attempt of a write; an id never reserves twice. */
  readonly id: string
  readonly amounts: PrintedAmounts
  readonly key: string
  readonly uid: string
  /** Revision that the write replaces; 0 for a create. */
  readonly expected: number
  /** Deadline of the commit, in milliseconds since 1970. */
  readonly deadlineMs: number
}

/**
 * The use of one quota. It is stored in one row, since one commit changes one key: so two processes
 * cannot both take the last room. The used amount is the counted one and the reserved one.
 *
 *   hard 3   counted 2 at revision 90   reserved a:1   →  used 3, no room
 *   a is committed at revision 95       →  counted 3     a is refused  →  counted 2
 *   counted anew at revision 97, a is among the objects  →  counted 3, and a's reservation has ended with it
 */
export interface Ledger {
  /** The quota's uid: a later quota of the same name starts with an empty ledger. */
  readonly quotaUid: string
  /** The count includes all commits up to this revision. */
  readonly countedAt: number
  readonly counted: PrintedAmounts
  readonly reservations: readonly Reservation[]
}

/** The usage including reservations. */
export function totalOf({ counted, reservations }: Ledger): Amounts {
  return reservations.reduce((total, { amounts }) => addAmounts(total, parseAmounts(amounts)), parseAmounts(counted))
}

export interface QuotaLimits {
  readonly name: string
  readonly hard: Amounts
}

export type Reserving = { readonly kind: 'reserved'; readonly ledger: Ledger } | { readonly kind: 'exceeded'; readonly message: string }

/** The ledger with the reservation, if it fits the limits. */
export function reserveIn(ledger: Ledger, wanted: Reservation, { name, hard }: QuotaLimits): Reserving {
  if (ledger.reservations.some(({ id }) => id === wanted.id)) return { kind: 'reserved', ledger }
  const room = roomIn({ quota: name, hard, used: totalOf(ledger), requested: parseAmounts(wanted.amounts) })
  if (room.kind === 'exceeded') return room
  return { kind: 'reserved', ledger: { ...ledger, reservations: [...ledger.reservations, wanted] } }
}

/** The end of a write. */
export interface Ending {
  readonly id: string
  /** Undefined if nothing was committed. */
  readonly revision: number | undefined
}

/** The ledger without the reservation; a committed one is counted, unless the count includes it. */
export function settleIn(ledger: Ledger, { id, revision }: Ending): Ledger {
  const settled = ledger.reservations.find((reservation) => reservation.id === id)
  if (settled === undefined) return ledger
  const reservations = ledger.reservations.filter((reservation) => reservation !== settled)
  if (revision === undefined || revision <= ledger.countedAt) return { ...ledger, reservations }
  return { ...ledger, reservations, counted: printAmounts(addAmounts(parseAmounts(ledger.counted), parseAmounts(settled.amounts))) }
}

/** The result of counting all objects. */
export interface Count {
  readonly revision: number
  readonly amounts: Amounts
  /** The existing objects with a reservation, by key. */
  readonly objects: ReadonlyMap<string, { readonly uid: string; readonly revision: number }>
  /** Start of the count, in milliseconds since 1970. */
  readonly startedMs: number
}

/** The ledger after a count. Reservations end if the count includes their write, or if the write can no longer happen. */
export function recountIn(ledger: Ledger, { revision, amounts, objects, startedMs }: Count): Ledger {
  const reservations = ledger.reservations.filter(({ key, uid, expected, deadlineMs }) => {
    if (startedMs > deadlineMs) return false
    const object = objects.get(key)
    // A create may still follow the deletion of another object with its name.
    if (expected === 0) return object?.uid !== uid
    return object?.revision === expected
  })
  return { ...ledger, countedAt: revision, counted: printAmounts(amounts), reservations }
}

export function encodeLedger(
  { quotaUid, ...rest }: Ledger,
  quota: { readonly namespace: string; readonly name: string },
  writeId: string,
): Uint8Array {
  const encoded = encodeObject({ kind: 'QuotaLedger', metadata: { ...quota, uid: quotaUid }, ...rest })
  return encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs: 0, encoded, labels: {}, fields: {} })
}

type StoredLedger = Omit<Ledger, 'quotaUid'> & { readonly metadata: { readonly uid?: string } }

/** The ledger of a row. */
export function decodeLedger({ value }: Pick<Entry, 'value'>): Ledger {
  const { metadata, countedAt, counted, reservations }: StoredLedger = parseBytes(value)
  return { quotaUid: metadata.uid ?? '', countedAt, counted, reservations }
}
