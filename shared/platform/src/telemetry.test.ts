import { expect, test } from 'vitest'
import { parseTraceparent, printTraceparent, traceFields } from './telemetry.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

test.each([
  { text: `00-${traceId}-${spanId}-01`, read: { traceId, spanId, isSampled: true } },
  { text: `00-${traceId}-${spanId}-00`, read: { traceId, spanId, isSampled: false } },
  { text: `00-${traceId}-${spanId}-03`, read: { traceId, spanId, isSampled: true } },
  { text: `01-${traceId}-${spanId}-01-later`, read: { traceId, spanId, isSampled: true } },
  { text: `ff-${traceId}-${spanId}-01`, read: undefined },
  { text: `00-${'0'.repeat(32)}-${spanId}-01`, read: undefined },
  { text: `00-${traceId}-${'0'.repeat(16)}-01`, read: undefined },
  { text: `00-${traceId.toUpperCase()}-${spanId}-01`, read: undefined },
  { text: `00-${traceId}-${spanId}-011`, read: undefined },
  { text: `01-${traceId}-${spanId}-01-${'x'.repeat(300)}`, read: undefined },
  { text: '', read: undefined },
])('CARD-22: the trace context $text is read as $read', ({ text, read }) => {
  expect(parseTraceparent(text)).toEqual(read)
})

test('CARD-22: a printed traceparent is parsed back', () => {
  const context = { traceId, spanId, isSampled: true }
  expect(parseTraceparent(printTraceparent(context))).toEqual(context)
})

test('CARD-20: a line in a log names its trace, if there is one', () => {
  expect(traceFields(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId })
  expect(traceFields('made up')).toEqual({})
  expect(traceFields(undefined)).toEqual({})
})
