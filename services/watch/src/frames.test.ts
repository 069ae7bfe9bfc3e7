import type { Change } from '@orch/core/contracts'
import { describe, expect, test } from 'vitest'
import { Contents, contentLost, Frames, guarded, isOlder, unconverted, type View } from './frames.ts'
import { tracesPerPieceMax } from './limits.ts'

const facts = { labels: {}, fields: {} }
const [was, is] = ['7', '9'].map((revision) => Buffer.from(`{"metadata":{"name":"a","resourceVersion":"${revision}"}}`)) as [Buffer, Buffer]
const change: Change = {
  revision: 9,
  previous: 7,
  key: 'core/configmaps/d/a',
  after: { value: is, metadataStart: 0, metadataEnd: 0, facts },
  before: { revision: 7, facts, value: was },
}
const text = (bytes: Uint8Array | symbol | undefined) => (bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : bytes)

describe('a guarded conversion', () => {
  test('returns the result of the conversion, and adds nothing to an absent conversion', () => {
    const convert = guarded(
      () => is,
      () => {},
    )
    expect(convert(was)).toBe(is)
    expect(guarded(unconverted, () => {})).toBe(unconverted)
  })

  test('has no result for a failure, and the error is reported', () => {
    const errors: unknown[] = []
    const error = new Error('no such field')
    const convert = guarded(
      () => {
        throw error
      },
      (one) => errors.push(one),
    )
    expect([convert(was), errors]).toEqual([undefined, [error]])
  })
})

describe('the contents of a turn', () => {
  function open(convert: (object: Uint8Array) => Uint8Array | undefined) {
    const converted: unknown[] = []
    const view = (version: string): View => ({
      version,
      convert: (object) => {
        converted.push(text(object))
        return convert(object)
      },
      format: { kind: 'json' },
      formatKey: 'json',
    })
    return { converted, view, contents: new Contents(0, () => {}) }
  }

  test('are the stored bytes without a conversion', () => {
    const view: View = { version: 'v1', convert: unconverted, format: { kind: 'json' }, formatKey: 'json' }
    expect(new Contents(0, () => {}).of(change, 'MODIFIED', view)).toBe(is)
  })

  test('are converted once per version, for a new or changed object, and once more for the previous state', () => {
    const { converted, view, contents } = open((object) => Buffer.concat([object]))
    const first = contents.of(change, 'ADDED', view('v1'))
    expect(contents.of(change, 'MODIFIED', view('v1'))).toBe(first)
    expect(converted).toHaveLength(1)
    expect(contents.of(change, 'ADDED', view('v2'))).not.toBe(first)
    const deleted = contents.of(change, 'DELETED', view('v1'))
    expect(JSON.parse(text(deleted) as string)).toEqual({ metadata: { name: 'a', resourceVersion: '9' } })
    expect(contents.of({ ...change, revision: 10 }, 'ADDED', view('v1'))).not.toBe(first)
    expect(converted).toHaveLength(4)
  })

  test('are lost if nothing is stored, or if it cannot be converted', () => {
    const { converted, view, contents } = open(() => undefined)
    const { revision, previous, key } = change
    expect(contents.of({ revision, previous, key }, 'MODIFIED', view('v1'))).toBe(contentLost)
    expect(contents.of({ revision, previous, key, before: { revision: 7, facts } }, 'DELETED', view('v1'))).toBe(contentLost)
    expect(converted).toEqual([])
    expect(contents.of(change, 'MODIFIED', view('v1'))).toBe(contentLost)
  })
})

describe('frames', () => {
  test('WATCH-02, WATCH-03: are lines in the order of their events, and are returned once', () => {
    const frames = new Frames()
    const types = ['ADDED', 'MODIFIED', 'DELETED'] as const
    const list = types.map((type, index) => ({ type, key: `${index}`, revision: 4 + index, json: Buffer.from(`{"a":${index}}`) }))
    for (const value of list) frames.addJson(value)
    const whole = types.map((type, index) => `{"type":"${type}","object":{"a":${index}}}\n`).join('')
    expect([frames.count, frames.last, frames.bytes]).toEqual([3, 6, whole.length])
    const part = frames.take()
    expect({ ...part, frames: text(part.frames) }).toEqual({
      ...{ kind: 'events', frames: whole, count: 3, last: 6 },
      values: { list, bytes: whole.length },
    })
    expect(part.frames).toBe(part.frames)
    for (const frame of ['one', 'two']) frames.add(8, Buffer.from(frame))
    const formatted = frames.take()
    expect({ ...formatted, frames: text(formatted.frames) }).toEqual({ kind: 'events', frames: 'onetwo', count: 2, last: 8 })
    expect([frames.count, frames.bytes, text(frames.take().frames)]).toEqual([0, 0, ''])
  })

  test('CRD-95: name the events about objects of another schema than requested', () => {
    const frames = new Frames()
    const view: View = { version: 'v1', convert: unconverted, format: { kind: 'json' }, formatKey: 'json', fingerprint: 5 }
    const { after, before } = change
    const changed = { ...change, after: { ...after!, fingerprint: 5 }, before: { ...before!, fingerprint: 4 } }
    const { after: _after, ...deleted } = changed
    expect([isOlder(changed, 'MODIFIED', view), isOlder(deleted, 'DELETED', view)]).toEqual([false, true])
    expect(isOlder(deleted, 'DELETED', { ...view, fingerprint: undefined })).toBe(false)
    const value = { type: 'MODIFIED', key: 'k', revision: 4, json: is } as const
    frames.addJson(value, true)
    frames.addJson(value)
    frames.addJson(value, true)
    expect(frames.take().older).toEqual([0, 2])
    frames.addJson(value)
    expect(frames.take().older).toBeUndefined()
  })

  test('have the time of their oldest event, and a bounded number of traces', () => {
    const frames = new Frames()
    frames.note(10, undefined)
    for (let trace = 0; trace <= tracesPerPieceMax; trace += 1) frames.note(20, `trace-${trace}`)
    const traceparents = Array.from({ length: tracesPerPieceMax }, (_, trace) => `trace-${trace}`)
    expect(frames.take().origin).toEqual({ committedMs: 10, traceparents })
    expect('origin' in frames.take()).toBe(false)
    frames.note(30, 'later')
    expect(frames.take().origin).toEqual({ committedMs: 30, traceparents: ['later'] })
  })
})
