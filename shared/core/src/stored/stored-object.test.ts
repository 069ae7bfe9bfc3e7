import { expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { gatesOf } from '../catalogue/testing/readers-testing.ts'
import { isJsonObject } from '../json/member.ts'
import { allTypeNames, hasTypeAt, resolveType, typeNameAt } from '../schema/resolve.ts'
import { decodeStored, encodeObject, encodeStored } from './envelope.ts'
import { fingerprintAt, renewalBy, schemaFingerprint } from './stored-object.ts'

const catalogue = createCatalogue('orch')
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function anOldValue(object: Readonly<Record<string, unknown>>, fingerprint = schemaFingerprint - 1) {
  return encodeStored({ fingerprint, writeId: 'w1', expiresAtMs: 5, encoded: encodeObject(object), labels: {}, fields: {} })
}

const aPod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'd', labels: { app: 'x' } },
  spec: { nodeName: 'n1', containers: [{ image: 'i', name: 'c' }], gone: true },
}

test('a value of another schema is decoded, defaulted and encoded again', () => {
  const renewal = renewalBy(catalogue)
  const value = anOldValue(aPod)
  expect(renewal.isCurrent('core/pods/d/p', value)).toBe(false)
  const renewed = decodeStored(renewal.convert('core/pods/d/p', value))
  expect(renewed).toMatchObject({ fingerprint: fingerprintAt(25), writeId: 'w1', expiresAtMs: 5, labelsText: '{"app":"x"}' })
  expect(JSON.parse(renewed.fieldsText)).toMatchObject({ 'spec.nodeName': 'n1' })
  const pod = JSON.parse(text(renewed.json))
  expect(pod.spec).toMatchObject({ nodeName: 'n1', restartPolicy: 'Always' })
  expect(pod.spec).not.toHaveProperty('gone')
  expect(Object.keys(pod.spec.containers[0]).slice(0, 2)).toEqual(['name', 'image'])
})

test('a value of this schema, or without a resource, is left unchanged', () => {
  const renewal = renewalBy(catalogue)
  expect(renewal.isCurrent('core/pods/d/p', anOldValue(aPod, fingerprintAt(25)))).toBe(true)
  expect(renewal.isCurrent('allocations/ips/1', anOldValue(aPod))).toBe(true)
})

test('EMV-21: a value of another level has the fields and the defaults of this level, with its gates', () => {
  const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } }
  const aJob = { kind: 'Job', apiVersion: 'batch/v1', metadata: { name: 'j', namespace: 'd' }, spec }
  const at = (level: number, given: Readonly<Record<string, unknown>>) => {
    const renewal = renewalBy(createCatalogue('orch', { minor: level, isGateOn: gatesOf(level) }))
    const value = anOldValue(given, fingerprintAt(level === 25 ? 37 : 25))
    expect(renewal.isCurrent('batch/jobs/d/j', value)).toBe(false)
    return JSON.parse(text(decodeStored(renewal.convert('batch/jobs/d/j', value)).json))
  }
  const today = at(37, aJob)
  expect(today.spec).toMatchObject({ podReplacementPolicy: 'TerminatingOrFailed', completionMode: 'NonIndexed' })
  expect(at(25, today).spec).not.toHaveProperty('podReplacementPolicy')
})

test('a value that no longer fits its type is an error that names the field', () => {
  const value = anOldValue({ ...aPod, spec: { containers: 7 } })
  expect(() => renewalBy(catalogue).convert('core/pods/d/p', value)).toThrow('spec.containers: expected array, got number')
})

/** Facts about a type that do not affect the stored form. */
const describing = new Set([
  // The facets for validation.
  ...['needed', 'isAlwaysChecked', 'isClosed', 'isImmutable', 'isEnforced', 'format', 'bytesMax', 'min', 'max', 'detail', 'sign', 'means'],
  ...['itemsMax', 'isUnique', 'uniqueBy', 'comparesSound', 'isLabels', 'keyedBy', 'isSet', 'starExcludes', 'declaredSince'],
  ...['doc', 'listedAsRequired', 'featureGate', 'gatedValues', 'valueWhenOff', 'keptWhenOff', 'dropsPart'],
  ...['since', 'until', 'changes', 'valuesSince', 'valuesUntil'],
])

/** True for the list of a text's values; `values` of a map is a type. */
function isListOfValues(key: string, value: unknown): boolean {
  return key === 'values' && Array.isArray(value)
}

/** Leaves out facts that only describe, and the order of facts. */
function storedFacts(key: string, value: unknown): unknown {
  if (describing.has(key) || isListOfValues(key, value)) return undefined
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value
}

/** If this fails, the stored form of objects may have changed: increase `schemaFingerprint` and refresh the golden file. */
test('STORE-04: the stored types equal the golden file', async () => {
  const names = [25, 37].flatMap((level) =>
    allTypeNames()
      .filter((name) => hasTypeAt(name, level))
      .map((name) => typeNameAt(name, level)),
  )
  const lines = [...new Set(names)].sort().map((name) => `${name} ${JSON.stringify(resolveType(name), storedFacts)}`)
  await expect(
    `schema ${schemaFingerprint}\n${lines.map((line) => `${line.split(' ')[0]} ${checksum(line)}`).join('\n')}\n`,
  ).toMatchFileSnapshot('./stored-types.golden.txt')
})

/** 32-bit FNV-1a, which suffices to detect a change. */
function checksum(line: string): string {
  let sum = 0x811c9dc5
  for (let index = 0; index < line.length; index++) sum = Math.imul(sum ^ line.charCodeAt(index), 0x01000193) >>> 0
  return sum.toString(16).padStart(8, '0')
}
