import { parseAmounts, printAmounts } from '@orch/core/quota'
import { expect, test } from 'vitest'
import { type Count, decodeLedger, encodeLedger, type Ledger, type Reservation, recountIn, reserveIn, settleIn, totalOf } from './ledger.ts'

const empty: Ledger = { quotaUid: 'u', countedAt: 90, counted: { pods: '1' }, reservations: [] }
const limits = { name: 'q', hard: parseAmounts({ pods: '2' }) }

function aReservation(id: string, more: Partial<Reservation> = {}): Reservation {
  return { id, amounts: { pods: '1' }, key: `core/pods/n/${id}`, uid: `uid-${id}`, expected: 0, deadlineMs: 1_000, ...more }
}

function aCount(more: Partial<Count> = {}): Count {
  return { revision: 100, amounts: parseAmounts({ pods: '1' }), objects: new Map(), startedMs: 500, ...more }
}

const reserved = (ledger: Ledger, reservation: Reservation): Ledger => {
  const outcome = reserveIn(ledger, reservation, limits)
  if (outcome.kind === 'exceeded') throw new Error(outcome.message)
  return outcome.ledger
}
const usedOf = (ledger: Ledger) => printAmounts(totalOf(ledger)).pods

test('a reservation counts as used, and one id never reserves twice', () => {
  const once = reserved(empty, aReservation('a'))
  expect(usedOf(once)).toBe('2')
  expect(reserved(once, aReservation('a'))).toBe(once)
  expect(reserveIn(once, aReservation('b'), limits)).toEqual({
    kind: 'exceeded',
    message: 'exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
  })
})

test('a committed reservation counts as used, and a refused reservation is released; settling it again changes nothing', () => {
  const open = reserved(empty, aReservation('a'))
  const committed = settleIn(open, { id: 'a', revision: 95 })
  expect([usedOf(committed), committed.reservations]).toEqual(['2', []])
  expect(settleIn(committed, { id: 'a', revision: 95 })).toBe(committed)
  expect(usedOf(settleIn(open, { id: 'a', revision: undefined }))).toBe('1')
})

test('a finished reservation is removed, and the others stay open', () => {
  const [a, b] = [aReservation('a', { amounts: { pods: '1' } }), aReservation('b', { amounts: { pods: '2' } })]
  const open = { ...empty, reservations: [a, b] }
  expect(settleIn(open, { id: 'b', revision: 95 })).toEqual({ ...empty, counted: { pods: '3' }, reservations: [a] })
  expect(settleIn(open, { id: 'b', revision: undefined })).toEqual({ ...empty, reservations: [a] })
  expect(settleIn(open, { id: 'c', revision: 95 })).toBe(open)
})

test.each([
  ['before the revision of the count', 96, '1'],
  ['at the revision of the count', 97, '1'],
  ['after the revision of the count', 98, '2'],
])('a commit %s is counted once', (_, revision, used) => {
  const open = { ...reserved(empty, aReservation('a')), countedAt: 97 }
  expect(usedOf(settleIn(open, { id: 'a', revision }))).toBe(used)
})

test('a reservation is still open at its deadline', () => {
  const ledger = { ...empty, reservations: [aReservation('a')] }
  expect(recountIn(ledger, aCount({ startedMs: 1_000 })).reservations).toHaveLength(1)
})

test.each([
  ['its object is counted', aReservation('a'), { uid: 'uid-a', revision: 95 }, 500, 0],
  ['its object is not there yet', aReservation('a'), undefined, 500, 1],
  ['another object has its name, and may go', aReservation('a'), { uid: 'other', revision: 95 }, 500, 1],
  ['its time is over', aReservation('a'), undefined, 1_001, 0],
  ['the object to be changed is as it was', aReservation('a', { expected: 80 }), { uid: 'uid-a', revision: 80 }, 500, 1],
  ['the object to be changed has been changed', aReservation('a', { expected: 80 }), { uid: 'uid-a', revision: 95 }, 500, 0],
  ['the object to be changed is gone', aReservation('a', { expected: 80 }), undefined, 500, 0],
])('after a count, whether a reservation is still open follows its state: %s', (_, reservation, object, startedMs, open) => {
  const objects = new Map(object === undefined ? [] : [[reservation.key, object]])
  const ledger = recountIn({ ...empty, reservations: [reservation] }, aCount({ objects, startedMs }))
  expect(ledger.reservations).toHaveLength(open)
  expect(ledger).toMatchObject({ countedAt: 100, counted: { pods: '1' } })
})

test('a ledger is read as it was stored', () => {
  const ledger = reserved(empty, aReservation('a'))
  const value = encodeLedger(ledger, { namespace: 'n', name: 'q' }, 'w')
  const json = value.subarray(Buffer.from(value).indexOf('{"kind"'))
  expect(decodeLedger({ value: json })).toEqual(ledger)
})
