import { expect, test } from 'vitest'
import { type Body, problemsOf } from '../testing/rules-testing.ts'

const older: Body = {
  metadata: { name: 'a', namespace: 'n' },
  involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' },
  reason: 'r',
  message: 'm',
}
const newer: Body = {
  metadata: { name: 'a', namespace: 'n' },
  eventTime: '2024-01-01T00:00:00.000001Z',
  series: { count: 2, lastObservedTime: '2024-01-01T00:00:01.000000Z' },
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'a',
  reason: 'r',
  regarding: { kind: 'Pod', namespace: 'n', name: 'p' },
  note: 'm',
  type: 'Normal',
}

test('Events of both groups are valid', () => {
  expect(problemsOf('core/v1.Event', older)).toEqual([])
  expect(problemsOf('events/v1.Event', newer)).toEqual([])
  expect(
    problemsOf('core/v1.Event', { ...older, metadata: { name: 'a', namespace: 'default' }, involvedObject: { kind: 'Node', name: 'x' } }),
  ).toEqual([])
})

test('an Event is in the namespace of its object', () => {
  const elsewhere = { kind: 'Pod', namespace: 'other', name: 'p' }
  expect(problemsOf('core/v1.Event', { ...older, involvedObject: elsewhere })).toEqual([
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ])
  expect(problemsOf('core/v1.Event', { ...older, involvedObject: { kind: 'Node', name: 'x' } })).toEqual([
    'involvedObject.namespace: Invalid value: "": does not match event.namespace',
  ])
})

test('an Event with eventTime names its reporter', () => {
  const timed = { ...older, eventTime: '2024-01-01T00:00:00.000000Z', reason: 'x'.repeat(129), message: 'x'.repeat(1025) }
  expect(problemsOf('core/v1.Event', timed).map((problem) => problem.slice(0, 60))).toEqual(
    [
      'reportingComponent: Required value',
      'reportingComponent: Invalid value: "": name part must be non-empty',
      'reportingComponent: Invalid value: "": name part must consist of alphanumeric characters',
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
    ].map((problem) => problem.slice(0, 60)),
  )
})

test('an Event of the newer group has an eventTime, and a series has at least two occurrences', () => {
  expect(problemsOf('events/v1.Event', { ...newer, eventTime: null })).toEqual(['eventTime: Required value'])
  expect(problemsOf('events/v1.Event', { ...newer, series: { count: 1, lastObservedTime: null } })).toEqual([
    'series.count: Invalid value: "": should be at least 2',
    'series.lastObservedTime: Required value',
  ])
})

test('only the series of an Event of the newer group may change', () => {
  const series = { count: 3, lastObservedTime: '2024-01-01T00:00:02.000000Z' }
  expect(problemsOf('events/v1.Event', { ...newer, series }, { live: newer })).toEqual([])
  expect(problemsOf('events/v1.Event', { ...newer, note: 'other', action: 'b' }, { live: newer })).toEqual([
    'message: Invalid value: "other": field is immutable',
    'action: Invalid value: "b": field is immutable',
  ])
  const times = { eventTime: '2024-01-01T00:00:00.500000Z', deprecatedFirstTimestamp: '2024-01-01T00:00:00Z' }
  expect(problemsOf('events/v1.Event', { ...newer, ...times }, { live: newer })).toEqual([
    'firstTimestamp: Invalid value: 2024-01-01 00:00:00 +0000 UTC: field is immutable',
    'eventTime: Invalid value: 2024-01-01 00:00:00.5 +0000 UTC: field is immutable',
  ])
  expect(problemsOf('events/v1.Event', newer, { live: { ...newer, ...times } })).toContain(
    'firstTimestamp: Invalid value: 0001-01-01 00:00:00 +0000 UTC: field is immutable',
  )
})

test('an Event of the newer group has one of two types, and no field of the older group', () => {
  expect(problemsOf('events/v1.Event', { ...newer, type: 'Odd' })).toEqual(['type: Invalid value: "": has invalid value: Odd'])
  const deprecated = {
    deprecatedSource: { host: 'h' },
    deprecatedFirstTimestamp: '2024-01-01T00:00:00Z',
    deprecatedLastTimestamp: '2024-01-01T00:00:00Z',
    deprecatedCount: 2,
  }
  expect(problemsOf('events/v1.Event', { ...newer, ...deprecated })).toEqual(
    ['firstTimestamp', 'lastTimestamp', 'count', 'source'].map((field) => `${field}: Invalid value: "": needs to be unset`),
  )
  expect(problemsOf('core/v1.Event', { ...older, type: 'Odd', count: 2, firstTimestamp: '2024-01-01T00:00:00Z' })).toEqual([])
})
