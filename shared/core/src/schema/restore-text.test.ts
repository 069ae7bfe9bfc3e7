import { describe, expect, test } from 'vitest'
import { decoderOf } from './decode.ts'

describe('a value that does not fit a Go object', () => {
  test.each([
    [{ spec: { replicas: '3' } }, 'unrecognized type: int32'],
    [{ spec: { replicas: 3.5 } }, 'cannot convert float64 to int32'],
    [{ spec: { replicas: true } }, 'unrecognized type: int32'],
    [{ spec: { paused: 'x' } }, 'unrecognized type: bool'],
    [{ spec: { paused: 1 } }, 'unrecognized type: bool'],
    [{ metadata: { labels: { a: 1 } } }, 'cannot convert int64 to string'],
    [{ metadata: { labels: { a: true } } }, 'unrecognized type: string'],
    [{ spec: 'x' }, 'cannot restore struct from: string'],
    [{ spec: { template: { spec: { containers: 'x' } } } }, 'cannot restore slice from string'],
    [{ metadata: { labels: ['a'] } }, 'cannot restore map from slice'],
    [{ spec: { strategy: { rollingUpdate: { maxSurge: 1.5 } } } }, 'json: cannot unmarshal number 1.5 into Go value of type int32'],
    [{ spec: { strategy: { rollingUpdate: { maxSurge: [] } } } }, 'json: cannot unmarshal array into Go value of type int32'],
  ])('%j is refused: %s', (object, text) => {
    expect(decoderOf('apps/v1.Deployment')(object, { trackUnknown: true })).toMatchObject({ kind: 'mismatch', restoreText: text })
  })

  test('and has its own UnmarshalJSON has a specific message', () => {
    const decoded = decoderOf('core/v1.Pod')({ metadata: { creationTimestamp: 'x' } }, { trackUnknown: true })
    expect(decoded).toMatchObject({ kind: 'mismatch', restoreText: undefined, textWithoutPath: expect.stringMatching(/^parsing time "x"/) })
  })
})
