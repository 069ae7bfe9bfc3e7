import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { scriptOf } from './script.ts'
import { chooseScript, compileScript, type ScriptObject } from './script-object.ts'

type Spec = ScriptObject['spec']

const aScript = (name: string, spec: Partial<Spec> = {}) =>
  compileScript({ apiVersion: '', kind: '', metadata: { name, uid: name }, spec: { containers: [], ...spec } })

const aPod = (metadata: Partial<Pod['metadata']> = {}, spec: object = {}) =>
  ({
    metadata: { name: 'web', uid: 'u', ...metadata },
    spec: { containers: [{ name: 'main', image: 'r.io/web:1' }], ...spec },
  }) as unknown as Pod

describe('a script matches a Pod', () => {
  const owned = (kind: string, controller = true) =>
    aPod({ ownerReferences: [{ apiVersion: 'v1', kind, name: 'o', uid: 'o', controller }] })
  test.each<[string, Partial<Spec>, Pod, boolean]>([
    ['without requirements', {}, aPod(), true],
    ['with its labels', { selector: { matchLabels: { app: 'a' } } }, aPod({ labels: { app: 'a' } }), true],
    ['with other labels', { selector: { matchLabels: { app: 'a' } } }, aPod({ labels: { app: 'b' } }), false],
    ['by a selector that cannot be read', { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: [] }] } }, aPod(), false],
    ['by an image', { images: ['r.io/web:1'] }, aPod(), true],
    ['by a pattern', { images: ['x', 'r.io/*:*'] }, aPod(), true],
    ['by a pattern with stars at its ends', { images: ['*web*'] }, aPod(), true],
    ['by a pattern of another image', { images: ['r.io/*:2'] }, aPod(), false],
    ['by a pattern whose parts overlap in the image', { images: ['r.io/web*eb:1'] }, aPod(), false],
    ['of a controller', { owner: { kind: 'Job' } }, owned('Job'), true],
    ['of a controller with another name', { owner: { kind: 'Job', name: 'p' } }, owned('Job'), false],
    ['of an owner that is no controller', { owner: { kind: 'Job' } }, owned('Job', false), false],
  ])('exactly if its requirements hold: %s', (_, spec, pod, expected) => {
    expect(aScript('s', spec).matches(pod)).toBe(expected)
  })
})

describe('of several scripts', () => {
  const choose = (scripts: ReturnType<typeof aScript>[], drawn = 0) =>
    chooseScript(scripts, aPod({ labels: { app: 'a', tier: 'b' } }), () => drawn)?.name
  const selector = (matchLabels: Record<string, string>) => ({ selector: { matchLabels } })
  const [all, one, two] = [aScript('all'), aScript('one', selector({ app: 'a' })), aScript('two', selector({ app: 'a', tier: 'b' }))]

  test('the script with most requirements wins, in any order, and the first by name among equals', () => {
    expect([choose([all, one, two]), choose([two, one, all]), choose([one, all])]).toEqual(['two', 'two', 'one'])
    expect(choose([aScript('z'), aScript('b'), aScript('c')])).toBe('b')
    expect(choose([aScript('other', selector({ app: 'c' }))])).toBeUndefined()
  })

  test('a script with a probability applies to its share of the Pods, before an equal script without one', () => {
    const rare = aScript('z-rare', { ...selector({ app: 'a' }), probability: 0.2 })
    expect([choose([one, rare], 0.19), choose([one, rare], 0.2)]).toEqual(['z-rare', 'one'])
  })

  test.each([
    [0, 0, undefined],
    [1, 0.999_999, 's'],
    [5e-324, 0, 's'],
  ])('a probability of %d with the draw %d chooses %s', (probability, drawn, expected) => {
    expect(choose([aScript('s', { probability })], drawn)).toBe(expected)
  })
})

describe('the script of a Pod', () => {
  const names = namesOf('kubernetes')
  const annotations = { 'simulation.orch.io/run-for': '9s', 'simulation.orch.io/shutdown': '3s', 'simulation.orch.io/readiness': '1s:fail' }

  test('combines members of its own objects, then of cluster objects, then of annotations', () => {
    const cluster = aScript('c', { containers: [{ name: '*', starts: [{ runFor: '5s', exitCode: 2 }], startAfter: '4s' }] })
    const own = aScript('o', {
      containers: [
        { name: '*', startAfter: '1s' },
        { name: 'main', starts: [{ exitCode: 1 }, { runFor: 'forever' }] },
      ],
    })
    const { containers, problems } = scriptOf(aPod({ annotations }), names, [cluster.layer, own.layer])
    expect(problems).toEqual([])
    expect(containers.get('main')).toMatchObject({
      startMs: 1000,
      runs: [
        { durationMs: 1000, exitCode: 1 },
        { durationMs: Number.POSITIVE_INFINITY, exitCode: 0 },
      ],
      shutdown: { ms: 3000 },
      turns: { readiness: [{ atMs: 1000, passes: false }] },
    })
    expect(scriptOf(aPod({ annotations }), names, [cluster.layer]).containers.get('main')?.runs).toEqual([
      { durationMs: 5000, exitCode: 2 },
    ])
  })

  test('does not apply * to init containers, which need their names', () => {
    const pod = aPod({}, { initContainers: [{ name: 'init' }, { name: 'other' }] })
    const script = aScript('s', {
      containers: [
        { name: '*', starts: [{ runFor: 'forever' }] },
        { name: 'init', starts: [{ runFor: '2s' }] },
      ],
    })
    const { containers } = scriptOf(pod, names, [script.layer])
    expect(['init', 'other'].map((name) => containers.get(name)?.runs[0]?.durationMs)).toEqual([2000, 0])
  })

  test('may have 10,000 starts', () => {
    const starts = Array.from({ length: 1000 }, () => ({ runFor: '1m30s', exitCode: 1 }))
    const containers = Array.from({ length: 10 }, (_, index) => ({ name: `c${index}`, starts }))
    const { layer } = aScript('large', { containers })
    expect(layer.get('c9')?.runs).toHaveLength(1000)
  })
})

test('log lines of a script are at the start, at a time, repeated, or at the end', () => {
  const logs = [
    { text: 'up' },
    { at: '5s', text: 'late', stream: 'Stderr' },
    { every: '1m', text: 'tick' },
    { every: '0s', text: 'fast' },
    { end: true, text: 'bye' },
  ] as const
  const { layer } = aScript('s', { containers: [{ name: 'main', logs }] })
  expect(scriptOf(aPod(), namesOf('orch'), [layer]).containers.get('main')?.logs).toEqual([
    { kind: 'at', atMs: 0, text: 'up', isError: false },
    { kind: 'at', atMs: 5000, text: 'late', isError: true },
    { kind: 'every', everyMs: 60_000, text: 'tick', isError: false },
    { kind: 'every', everyMs: 1, text: 'fast', isError: false },
    { kind: 'end', text: 'bye', isError: false },
  ])
})
