import { describe, expect, test } from 'vitest'
import type { ObjectMeta } from '../meta/object-meta.ts'
import { carryOverMeta } from '../meta/object-meta.ts'
import { type FieldError, printFieldError } from '../meta/status.ts'
import { type MetaRules, validateFieldManager, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts'

const namespaced: MetaRules = { isNamespaced: true, nameKind: 'subdomain', level: 25 }
const meta: ObjectMeta = { name: 'a', namespace: 'default' }
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u' }

const lines = (errors: readonly FieldError[]): string[] => errors.map((error) => printFieldError(error, 25))

describe('metadata of an object', () => {
  const rows: [name: string, meta: ObjectMeta, rules: MetaRules, start: (string | RegExp)[]][] = [
    [
      'good metadata',
      { ...meta, labels: { 'a.b/c': 'd' }, annotations: { 'A.b/c': '∞' }, finalizers: ['x'], ownerReferences: [owner] },
      namespaced,
      [],
    ],
    ['META-10: no namespace', { name: 'a' }, namespaced, [/^metadata\.namespace: Required value$/]],
    [
      'META-10: a namespace where none belongs',
      meta,
      { ...namespaced, isNamespaced: false },
      ['metadata.namespace: Forbidden: not allowed on this type'],
    ],
    ['no name', { namespace: 'default' }, namespaced, ['metadata.name: Required value: name or generateName is required']],
    ['META-21: a bad name', { ...meta, name: 'A' }, namespaced, [/^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/]],
    [
      'META-21: a bad generateName names both fields',
      { ...meta, generateName: 'A', name: 'Abcdef' },
      namespaced,
      [/^metadata\.generateName: Invalid value: "A": a low/, /^metadata\.name: Invalid value: "Abcdef": a low/],
    ],
    [
      'META-21: a bad namespace',
      { ...meta, namespace: 'a.b' },
      namespaced,
      [/^metadata\.namespace: Invalid value: "a\.b": a lowercase RFC 1123 label/],
    ],
    [
      'META-21: a bad label key',
      { ...meta, labels: { 'a b': '' } },
      namespaced,
      [/^metadata\.labels: Invalid value: "a b": name part must consist/],
    ],
    [
      'META-21: a bad label value',
      { ...meta, labels: { a: '-' } },
      namespaced,
      [/^metadata\.labels: Invalid value: "-": a valid label must/],
    ],
    [
      'META-21: a bad annotation key',
      { ...meta, annotations: { '': '' } },
      namespaced,
      [/name part must be non-empty$/, /name part must consist/],
    ],
    [
      'LIM: annotations too long',
      { ...meta, annotations: { a: 'x'.repeat(262_144) } },
      namespaced,
      ['metadata.annotations: Too long: must have at most 262144 bytes'],
    ],
    [
      'a negative generation',
      { ...meta, generation: -1 },
      namespaced,
      ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a bad finalizer',
      { ...meta, finalizers: ['a/b/c'] },
      namespaced,
      [/^metadata\.finalizers: Invalid value: "a\/b\/c": a qualified name must/],
    ],
    [
      'both deletion finalizers',
      { ...meta, finalizers: ['orphan', 'foregroundDeletion'] },
      namespaced,
      ['metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'],
    ],
    [
      'a bare finalizer of a kind that allows only some',
      { ...meta, finalizers: ['orphan', 'x'] },
      { ...namespaced, bareFinalizers: ['orphan'] },
      ['metadata.finalizers[1]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified'],
    ],
    [
      'META-21: an empty owner',
      { ...meta, ownerReferences: [{ apiVersion: 'apps/', kind: '', name: '', uid: '' }] },
      namespaced,
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": kind must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": name must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
      ],
    ],
    [
      'an Event as owner',
      { ...meta, ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Event' }] },
      namespaced,
      [/\/v1, Kind=Event is disallowed from being an owner$/],
    ],
    [
      'two controllers',
      {
        ...meta,
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: 's', controller: true },
        ],
      },
      namespaced,
      [/Only one reference can have Controller set to true\. Found "true" in references for r and s$/],
    ],
    [
      'MF-02: an operation that is none, MF-05: a wrong fieldsType',
      { ...meta, managedFields: [{ operation: 'Create' as never, fieldsType: 'FieldsV2' }] },
      namespaced,
      [
        'metadata.managedFields[0].operation: Invalid value: "Create": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
      ],
    ],
  ]
  test.each(rows)('have the expected errors: %s', (_name, given, rules, expected) => {
    const found = lines(validateObjectMeta(given, rules))
    expect(found).toHaveLength(expected.length)
    for (const [index, pattern] of expected.entries()) {
      if (typeof pattern === 'string') expect(found[index]).toBe(pattern)
      else expect(found[index]).toMatch(pattern)
    }
  })

  test('errors name the path of the metadata', () => {
    expect(validateObjectMeta({}, { ...namespaced, path: 'spec.template.metadata' })[0]?.field).toBe('spec.template.metadata.name')
  })
})

describe('metadata of an update', () => {
  const live: ObjectMeta = { ...meta, uid: 'u1', creationTimestamp: '2024-01-01T00:00:00Z', generation: 2, finalizers: ['a'] }
  const deleting: ObjectMeta = { ...live, deletionTimestamp: '2024-01-02T00:00:00Z', deletionGracePeriodSeconds: 0 }

  const rows: [name: string, meta: ObjectMeta, live: ObjectMeta, expected: string[]][] = [
    ['nothing changed', live, live, []],
    ['server-owned fields left out', { ...meta, finalizers: ['a', 'b'] }, live, []],
    ['META-11: another uid', { ...live, uid: 'zzz' }, live, ['metadata.uid: Invalid value: "zzz": field is immutable']],
    ['another name', { ...live, name: 'b' }, live, ['metadata.name: Invalid value: "b": field is immutable']],
    [
      'META-16: a deletionTimestamp',
      { ...live, deletionTimestamp: 'x' },
      live,
      ['metadata.deletionTimestamp: Invalid value: "x": field is immutable'],
    ],
    ['META-12: an older generation', { ...live, generation: 1 }, live, []],
    ['META-15: another time of creation', { ...live, creationTimestamp: '2001-01-01T00:00:00Z' }, live, []],
    ['META-16: another time of deletion while deleting', { ...deleting, deletionTimestamp: '2001-01-01T00:00:00Z' }, deleting, []],
    ['a finalizer less while deleting', { ...deleting, finalizers: [] }, deleting, []],
    [
      'a finalizer more while deleting',
      { ...deleting, finalizers: ['a', 'x'] },
      deleting,
      ['metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x"}'],
    ],
  ]
  test.each(rows)('have the expected errors: %s', (_name, given, before, expected) => {
    expect(lines(validateObjectMetaUpdate(given, before, { nameKind: undefined, level: 25 }))).toEqual(expected)
  })

  test('META-15, META-16: server-set times never change, for any sent values', () => {
    const given = { ...deleting, creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z' }
    expect(carryOverMeta(given, deleting)).toEqual(deleting)
  })

  test('omitted members are carried over, and the input is not changed', () => {
    const given = { ...meta, labels: { a: 'b' } }
    expect(carryOverMeta(given, deleting)).toEqual({
      ...given,
      uid: 'u1',
      creationTimestamp: '2024-01-01T00:00:00Z',
      deletionTimestamp: '2024-01-02T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    })
    expect(given).toEqual({ ...meta, labels: { a: 'b' } })
  })
})

test.each([
  ['kubectl-edit', []],
  ['é'.repeat(65), ['fieldManager: Too long: must have at most 128 bytes']],
  ['a\u0007', ['fieldManager: Invalid value: "a\\a": invalid character U+0007 (at position 1)']],
  [
    'é\nb\u200b',
    [
      'fieldManager: Invalid value: "é\\nb\\u200b": invalid character U+000A (at position 2)',
      'fieldManager: Invalid value: "é\\nb\\u200b": invalid character U+200B (at position 4)',
    ],
  ],
])('QP-15: the field manager %j has the expected errors', (manager, expected) => {
  const errors: FieldError[] = []
  validateFieldManager(errors, manager, 'fieldManager')
  expect(lines(errors)).toEqual(expected)
})
