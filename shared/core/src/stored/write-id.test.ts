import { expect, test } from 'vitest'
import { toWriteId, traceparentOf } from './write-id.ts'

const id = '0f0e3c0a-6b1a-4b62-9c53-4a1d1c6f2b11'
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

test('CARD-22: a write id names the trace of the write, if there is one', () => {
  expect(traceparentOf(toWriteId(id, traceparent))).toBe(traceparent)
  expect(traceparentOf(toWriteId(id, undefined))).toBeUndefined()
  expect(toWriteId(id, undefined)).toBe(id)
})
