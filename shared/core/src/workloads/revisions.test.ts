import { expect, test } from 'vitest'
import { type ControllerRevision, chooseRevision, inRevisionOrder, newRevision, surplusRevisions, templateOfRevision } from './revisions.ts'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [] } }

function aRevision(name: string, revision: number, creationTimestamp?: string): ControllerRevision {
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name, ...(creationTimestamp && { creationTimestamp }) },
    data: {},
    revision,
  }
}

const namesOf = (revisions: readonly ControllerRevision[]) => revisions.map(({ metadata }) => metadata.name)
const [one, two, three] = [aRevision('a', 1), aRevision('b', 2), aRevision('c', 3)]

test('WL-STS-24: the newest of equal revisions is kept, an earlier equal revision gets a new number, and otherwise a revision is created', () => {
  expect(chooseRevision([one, two, three], (revision) => revision !== two)).toEqual({ kind: 'keep', revision: three })
  expect(chooseRevision([one, two, three], (revision) => revision === two)).toEqual({ kind: 'raise', revision: two, to: 4 })
  expect(chooseRevision([one, two, three], () => false)).toEqual({ kind: 'create', number: 4 })
  expect(chooseRevision([], () => true)).toEqual({ kind: 'create', number: 1 })
})

test('WL-STS-39: the oldest revisions beyond the limit are surplus, unless they are in use', () => {
  const live = new Set(['a'])
  expect(namesOf(surplusRevisions([one, two, three], { live, limit: 1 }))).toEqual(['b'])
  expect(namesOf(surplusRevisions([one, two, three], { live, limit: 0 }))).toEqual(['b', 'c'])
  expect(surplusRevisions([one, two, three], { live, limit: 2 })).toEqual([])
})

test('WL-STS-39: revisions are ordered by number, time of creation and name', () => {
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
  const mixed = [aRevision('z', 2, late), aRevision('y', 2, early), aRevision('x', 2, late), aRevision('w', 1, late)]
  expect(namesOf(inRevisionOrder(mixed))).toEqual(['w', 'y', 'x', 'z'])
})

test('WL-STS-23: a revision has the labels of the template with the hash, the annotations of its owner, and the template as a patch', () => {
  const owner = { name: 'w'.repeat(230), namespace: 'team', annotations: { a: 'b' } }
  const data = JSON.stringify({ spec: { template: { ...template, $patch: 'replace' } } })
  const revision = newRevision({ owner, template, hash: 'abc', number: 3, data, hashLabel: 'example.com/hash' })
  expect(revision).toMatchObject({
    metadata: {
      name: `${'w'.repeat(223)}-abc`,
      namespace: 'team',
      labels: { app: 'web', 'example.com/hash': 'abc' },
      annotations: { a: 'b' },
    },
    revision: 3,
  })
  expect(templateOfRevision(revision)).toEqual(template)
  expect(templateOfRevision(one)).toBeUndefined()
})
