import type { Change, Facts, FieldRequirement, LabelRequirement, Selection } from '@orch/core/contracts'
import { shardHash } from '@orch/core/selectors'
import { describe, expect, test } from 'vitest'
import { eventTypeOf, matcherOf, shardTestOf } from './event.ts'

const scope = { resource: 'core/configmaps' }
const facts = (x: string): Facts => ({ labels: { x }, fields: { 'spec.x': x } })
const label = (value: string): LabelRequirement => ({ key: 'x', operator: 'In', values: [value] })
const field = (name: string, value: string): FieldRequirement => ({ field: name, operator: 'Equals', value })
const after = (x: string) => ({ value: new Uint8Array(), metadataStart: 0, metadataEnd: 0, facts: facts(x) })
const before = (x: string) => ({ revision: 1, facts: facts(x) })

describe('the event of a change for a watch', () => {
  const matches = matcherOf(scope, { labels: [label('1')], fields: [] })
  test.each<[string, Partial<Change>, string | undefined]>([
    ['selected since it was created', { after: after('1') }, 'ADDED'],
    ['selected since it was changed', { before: before('2'), after: after('1') }, 'ADDED'],
    ['selected before and after', { before: before('1'), after: after('1') }, 'MODIFIED'],
    ['selected until it was changed', { before: before('1'), after: after('2') }, 'DELETED'],
    ['selected until it was deleted', { before: before('1') }, 'DELETED'],
    ['not selected, and created', { after: after('2') }, undefined],
    ['not selected, and changed', { before: before('2'), after: after('2') }, undefined],
    ['not selected, and deleted', { before: before('2') }, undefined],
  ])('WATCH-04: an object %s: %o is %s', (_what, parts, type) => {
    expect(eventTypeOf({ revision: 2, previous: 1, key: 'core/configmaps/d/a', ...parts }, matches)).toBe(type)
  })
})

describe('a selection includes', () => {
  const key = 'core/configmaps/d/a'
  test.each<[string, LabelRequirement[], FieldRequirement[], boolean]>([
    ['everything without requirements', [], [], true],
    ['by a label', [label('1')], [], true],
    ['not by another label', [label('2')], [], false],
    ['by a field', [], [field('spec.x', '1')], true],
    ['not by another field', [], [field('spec.x', '2')], false],
    ['by the name', [], [field('metadata.name', 'a')], true],
    ['not by another name', [], [field('metadata.name', 'd')], false],
    ['by the namespace', [], [field('metadata.namespace', 'd')], true],
    ['not by another namespace', [], [field('metadata.namespace', 'a')], false],
    ['by all of these', [label('1')], [field('spec.x', '1'), field('metadata.name', 'a'), field('metadata.namespace', 'd')], true],
    ['not where the label alone differs', [label('2')], [field('spec.x', '1'), field('metadata.name', 'a')], false],
    ['not where the field alone differs', [label('1')], [field('spec.x', '2'), field('metadata.name', 'a')], false],
    ['not where the name alone differs', [label('1')], [field('spec.x', '1'), field('metadata.name', 'b')], false],
  ])('or leaves out an object as expected: %s', (_what, labels, fields, holds) => {
    expect(matcherOf(scope, { labels, fields })(key, facts('1'))).toBe(holds)
  })

  test('an object without a namespace by its name, and by no namespace', () => {
    const holds = (requirement: FieldRequirement) =>
      matcherOf({ resource: 'core/nodes' }, { labels: [], fields: [requirement] })('core/nodes/n1', facts('1'))
    expect([holds(field('metadata.name', 'n1')), holds(field('metadata.namespace', '')), holds(field('metadata.namespace', 'n'))]).toEqual([
      true,
      true,
      false,
    ])
  })
})

type ShardRange = NonNullable<Selection['shards']>[number]

describe('READ-23: shards', () => {
  const value = Buffer.from('{"metadata":{"name":"a","uid":"u1"}}')
  const stored = { value, metadataStart: 12, metadataEnd: value.length - 1, facts: facts('1') }
  const created: Change = { revision: 1, previous: 0, key: 'core/configmaps/d/a', after: stored }
  const deleted: Change = { revision: 2, previous: 1, key: 'core/configmaps/d/a', before: { revision: 1, facts: facts('1'), value } }
  const shardOf = (field: ShardRange['field'], text: string): ShardRange => ({ field, from: shardHash(text), to: `${shardHash(text)}0` })
  const selection = (...shards: ShardRange[]) => ({ labels: [], fields: [], shards })

  test('of uids contain all changes of an object, also its deletion, and give the same answer each time', () => {
    const [own, other] = ['u1', 'u2'].map((uid) => shardTestOf(scope, selection(shardOf('uid', uid))))
    for (const change of [created, created, deleted, deleted]) expect([own?.(change), other?.(change)]).toEqual([true, false])
    expect(shardTestOf(scope, selection(shardOf('uid', ''), shardOf('uid', 'u1')))?.(created)).toBe(true)
  })

  test('of namespaces contain their objects, and cluster-scoped objects as in the namespace with the empty name', () => {
    const [own, other, none] = ['d', 'e', ''].map((namespace) => shardTestOf(scope, selection(shardOf('namespace', namespace))))
    expect([own?.(created), other?.(created), none?.(created)]).toEqual([true, false, false])
    const node: Change = { ...created, key: 'core/nodes/n1' }
    const [ownNode, otherNode] = ['', 'n1'].map((name) => shardTestOf({ resource: 'core/nodes' }, selection(shardOf('namespace', name))))
    expect([ownNode?.(node), otherNode?.(node)]).toEqual([true, false])
  })

  test('are all selected if a selection names none', () => {
    expect(shardTestOf(scope, { labels: [], fields: [] })).toBeUndefined()
  })
})
