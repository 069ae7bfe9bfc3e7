import { decodeJson, printJson } from '@orch/core/json'
import { resolveStruct } from '@orch/core/schema'
import { parseYaml, printYaml } from '@orch/core/yaml'
import { anyStruct } from '@orch/testkit'
import fc from 'fast-check'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { limits } from '../limits.ts'
import { doJob } from './do-job.ts'
import { prettyJson } from './pretty-json.ts'
import { TextThread } from './text-thread.ts'

const thread = new TextThread()
afterAll(() => thread.close())

const bytesOf = (text: string) => Buffer.from(text)
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** The value of a YAML text for the client, by either path. */
function readBack(text: string): unknown {
  const answer = doJob({ kind: 'parseYaml', bytes: bytesOf(text) })
  if (answer.kind === 'json') return { value: JSON.parse(textOf(answer.bytes)), repeats: answer.repeats, hasBigIntegers: false }
  if (answer.kind === 'value') return { value: answer.value, repeats: answer.repeats, hasBigIntegers: answer.hasBigIntegers }
  return answer
}

test('NEG-10, LIM-12: YAML parsed by the thread has the same value, repeated keys and errors as YAML parsed here', () => {
  const types = ['core/v1.Pod', 'core/v1.ConfigMap', 'apps/v1.ControllerRevision', 'core/v1.Node'].map(resolveStruct)
  fc.assert(
    fc.property(fc.oneof(...types.map((type) => anyStruct(type, 'some'))), (value) => {
      const text = printYaml(value)
      const { kind: _kind, ...here } = parseYaml(text) as Extract<ReturnType<typeof parseYaml>, { kind: 'yaml' }>
      expect(readBack(text)).toEqual(here)
    }),
    { numRuns: 60 },
  )
})

test.each([
  'a: &x [1, 2]\nb: *x\n',
  'a: 1\na: 2\nb: {c: 1, c: 2}\n',
  'a: 9223372036854775807\nb: -9223372036854775808\n',
  'a: .inf\nb: .nan\nc: -0\n',
  'a: 0444\nb: no\n0x10: c\n',
  '__proto__: {a: 1}\nconstructor: 2\n',
  '2: a\n1: b\nx: c\n',
  '"a": "\\u2028 \\U0001F600"\n',
])('NEG-10: the thread and this thread parse %j equally', (text) => {
  const here = parseYaml(text)
  const { kind: _kind, ...value } = here
  expect(readBack(text)).toEqual(here.kind === 'malformed' ? here : value)
})

test('NEG-10: YAML and indented JSON from the thread equal the text printed here, to the byte', () => {
  fc.assert(
    fc.property(anyStruct(resolveStruct('core/v1.Pod'), 'some'), (pod) => {
      const json = printJson({ ...(pod as object), big: 2n ** 63n - 1n }, { hasBigIntegers: true })
      const read = decodeJson(json) as Extract<ReturnType<typeof decodeJson>, { kind: 'json' }>
      const done = (kind: 'printYaml' | 'prettyJson') => {
        const answer = doJob({ kind, bytes: bytesOf(json) })
        return answer.kind === 'bytes' ? textOf(answer.bytes) : answer
      }
      expect(done('printYaml')).toBe(printYaml(read.value))
      expect(done('prettyJson')).toBe(prettyJson(json))
    }),
    { numRuns: 40 },
  )
})

test('LIM-12: texts are handled in another thread, one after the other, while this thread continues', async () => {
  const bytes = bytesOf(`a:\n${'  - b: c\n'.repeat(20_000)}`)
  const order: string[] = []
  const first = thread.do({ kind: 'parseYaml', bytes }).then((answer) => order.push(answer.kind))
  const second = thread.do({ kind: 'prettyJson', bytes: bytesOf('{"a":1}') }).then((answer) => order.push(answer.kind))
  setImmediate(() => order.push('meanwhile'))
  await Promise.all([first, second])
  expect(order).toEqual(['meanwhile', 'json', 'bytes'])
  expect(bytes.length).toBeGreaterThan(0)
})

test('a text that fails in the thread fails here, and the thread continues', async () => {
  await expect(thread.do({ kind: 'printYaml', bytes: bytesOf('{') })).rejects.toThrow(SyntaxError)
  expect(await thread.do({ kind: 'parseYaml', bytes: bytesOf('a: [') })).toMatchObject({ kind: 'malformed' })
  expect(await thread.do({ kind: 'prettyJson', bytes: bytesOf('[]') })).toMatchObject({ kind: 'bytes' })
})

test('a closed thread refuses its unfinished jobs', async () => {
  const closing = new TextThread()
  const waiting = [closing.do({ kind: 'prettyJson', bytes: bytesOf('[]') }), closing.do({ kind: 'prettyJson', bytes: bytesOf('[]') })]
  const outcomes = Promise.allSettled(waiting)
  await closing.close()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(closing.do({ kind: 'prettyJson', bytes: bytesOf('[]') })).rejects.toThrow('stopping')
})

test('LIM-12: a text is refused while too many bytes wait for the thread', async () => {
  const busy = new TextThread()
  onTestFinished(() => busy.close())
  const bytes = new Uint8Array(limits.textWaitingBytesMax / 2 + 1)
  const jobs = Array.from({ length: 4 }, () => busy.do({ kind: 'printYaml', bytes }))
  for (const job of jobs) job.catch(() => {})
  await expect(jobs[3]).rejects.toMatchObject({ status: { code: 503, details: { retryAfterSeconds: 1 } } })
})
