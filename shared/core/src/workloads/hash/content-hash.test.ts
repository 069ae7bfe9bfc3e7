import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { revisionData, revisionHash, templateHashesAt } from './content-hash.ts'
import { templateDumperAt } from './dump.ts'

/** A template and its hashes in Kubernetes by level; `recorded` hashes are from controllers at 1.37. */
interface Case {
  readonly name: string
  readonly stored: { readonly spec: object }
  readonly recorded: { readonly replicaSetHash: string; readonly statefulSetRevisionHash: string; readonly daemonSetHash: string }
  readonly podTemplateHash: Readonly<Record<string, string>>
  readonly podTemplateHashWithCollisionCount: Readonly<Record<string, string>>
  readonly statefulSetRevisionHash: Readonly<Record<string, string>>
  readonly dump?: string
  readonly revisionData?: string
}

const [, ...lines] = readFileSync(new URL('../cases/hashes.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
const cases = lines.map((line): Case => JSON.parse(line))
const levelOf = (text: string) => Number(text.slice(2))
const dump37 = templateDumperAt(37)
const { hashOf: hash37, areEqual } = templateHashesAt(37)

test.each(cases)(
  'WL-HASH-01, WL-HASH-02, WL-HASH-14, WL-HASH-20: pod-template-hash of a template with $name is that of each level',
  (one) => {
    const { stored, recorded, podTemplateHash } = one
    expect(hash37(stored)).toBe(recorded.replicaSetHash)
    const found = Object.keys(podTemplateHash).map((level) => [level, templateHashesAt(levelOf(level)).hashOf(stored)])
    expect(Object.fromEntries(found)).toEqual(podTemplateHash)
    const { level: _, ...counts } = one.podTemplateHashWithCollisionCount
    expect(Object.fromEntries(Object.keys(counts).map((count) => [count, hash37(stored, Number(count))]))).toEqual(counts)
    // The DaemonSets must not have Pods.
    expect(hash37({ ...stored, spec: { ...stored.spec, nodeSelector: { none: 'x' } } })).toBe(recorded.daemonSetHash)
  },
)

test.each(cases)('WL-HASH-03, WL-HASH-17, WL-HASH-18: at each level a revision of a template with $name has the expected hash', (one) => {
  const found = Object.keys(one.statefulSetRevisionHash).map((level) => [level, revisionHash(revisionData(one.stored, levelOf(level)))])
  expect(Object.fromEntries(found)).toEqual(one.statefulSetRevisionHash)
  if (one.revisionData !== undefined) expect(revisionData(one.stored, 37)).toBe(one.revisionData)
})

test.each([
  ['WL-HASH-04, WL-HASH-05, WL-HASH-07, WL-HASH-08', 'minimal'],
  ['WL-HASH-06', 'two labels'],
  ['WL-HASH-10, WL-HASH-11', 'requests cpu 100m'],
  ['WL-HASH-10, WL-HASH-12', 'memory 64Mi'],
  ['WL-HASH-13', 'memory 1.5Gi'],
  ['WL-HASH-09', 'readiness named port'],
])('%s: a template with %s has the recorded dump', (_ids, name) => {
  const { stored, dump } = cases.find((one) => one.name === name)!
  expect(dump37(stored)).toBe(dump)
})

test('WL-HASH-01: the hash of a template is cached, with and without a count of collisions', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } }
  const hash = hash37(template)
  expect([hash37(template, 1), hash37(template), hash37(structuredClone(template), 1)]).toEqual([
    hash37(template, 1),
    hash,
    hash37(template, 1),
  ])
  expect(hash37(template, 1)).not.toBe(hash)
})

test('WL-DEP-02: templates are compared without their hash label, and an empty list equals none', () => {
  const template = (labels: object, more: object = {}) => ({
    metadata: { labels: { ...labels } },
    spec: { containers: [{ name: 'a' }], ...more },
  })
  const base = template({ a: 'b' })
  expect(areEqual(base, template({ a: 'b', 'pod-template-hash': 'x' }, { volumes: [], nodeSelector: {} }))).toBe(true)
  expect([template({ a: 'c' }), template({ a: 'b' }, { hostNetwork: true })].map((other) => areEqual(base, other))).toEqual([false, false])
})
