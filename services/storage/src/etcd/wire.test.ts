import { expect, test } from 'vitest'
import { parseRevision, parseTransactionAnswer, parseWatchAnswer, printLook, printTransaction, printWatchQuestion } from './wire.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex')

test('a transaction has the encoding of etcd', () => {
  const [a, b] = [Buffer.from('a'), Buffer.from('b')]
  const printed = printTransaction({ guards: [{ key: a, revision: 300 }], puts: [{ key: a, value: b }], removes: [b], looks: [a] })
  // compare {result, target mod, key, revision 300}; success {put}, {remove}; failure {look, keys only}
  expect(hex(printed)).toBe(
    hex(bytes('0a 0a 0800 1002 1a0161 30ac02  12 08 12 06 0a0161 120162  12 05 1a 03 0a0162  1a 07 0a 05 0a0161 4001')),
  )
})

test('the outcome of a transaction is read from its answer, with 64-bit numbers', () => {
  const head = '0a 10 08 ffffffffffffffffff01 10 01 18 ac02'
  expect(parseTransactionAnswer(bytes(`${head} 10 01 1a 02 12 00`))).toEqual({ revision: 300, succeeded: true, looks: [0] })
  const found = '1a 0b 0a 09 12 05 0a0161 1807 20 01'
  expect(parseTransactionAnswer(bytes(`${head} ${found} 1a 02 0a 00`))).toEqual({ revision: 300, succeeded: false, looks: [7, 0] })
})

test('a watch requests later changes, with the previous values and progress', () => {
  expect(hex(printWatchQuestion({ kind: 'follow', key: Buffer.from('a'), end: Buffer.from('b'), from: 5 }))).toBe(
    hex(bytes('0a 0e 0a0161 120162 1805 2001 3001 4001')),
  )
  expect(hex(printWatchQuestion({ kind: 'position' }))).toBe('1a00')
})

test('the answer of a watch is read: puts, deletes, previous values, and the reason of its end', () => {
  const events = parseWatchAnswer(bytes('0a 02 18 0a  5a 0e 12 08 0a0161 1809 2a0178 1a 02 1803  5a 09 0801 12 05 0a0161 180a')).events
  expect(events.map(({ key, value, ...rest }) => ({ ...rest, key: String(key), value: Buffer.from(value).toString() }))).toEqual([
    { isDelete: false, key: 'a', revision: 9, value: 'x', replaces: 3 },
    { isDelete: true, key: 'a', revision: 10, value: '', replaces: 0 },
  ])
  expect(parseWatchAnswer(bytes('0a 02 18 0a 20 01 28 07 32 01 79'))).toMatchObject({
    canceled: true,
    compacted: 7,
    reason: 'y',
    events: [],
  })
})

test('each mark in the answer of a watch is read separately: its begin, its end, and a continued revision', () => {
  const nothing = { revision: 10, created: false, canceled: false, compacted: 0, reason: '', isFragment: false, events: [] }
  const marked = (text: string) => parseWatchAnswer(bytes(`0a 02 18 0a ${text}`))
  expect(marked('')).toEqual(nothing)
  expect(marked('18 01')).toEqual({ ...nothing, created: true })
  expect(marked('20 01')).toEqual({ ...nothing, canceled: true })
  expect(marked('28 07')).toEqual({ ...nothing, compacted: 7 })
  expect(marked('32 01 79')).toEqual({ ...nothing, reason: 'y' })
  expect(marked('38 01')).toEqual({ ...nothing, isFragment: true })
})

test('a read of one key requests no value, and the revision of the answer is read', () => {
  expect(hex(printLook(Buffer.from('a')))).toBe(hex(bytes('0a0161 4001')))
  expect(parseRevision(bytes('0a 10 08 ffffffffffffffffff01 10 01 18 ac02  12 02 1803 20 01'))).toBe(300)
})
