import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { plainNameOf } from '../description/levels.ts'
import type { Field, Node } from '../description/node.ts'
import { allTypeNames, hasTypeAt, resolveStruct, resolveType, typeNameAt } from '../schema/resolve.ts'

const levels = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]

/** `core/v1.Pod.spec` → `2 !`: tag and attributes, in the notation of the file. */
type Fields = Record<string, string>

/** Types and fields that this server has from 1.25 on, although Kubernetes added them later. */
const early = [
  /^apidiscovery\/v2\./,
  /^admissionregistration\/v1\.(?:ApplyConfiguration|AuditAnnotation|ExpressionWarning|JSONPatch|MatchCondition|MatchResources)\./,
  /^admissionregistration\/v1\.(?:MutatingAdmissionPolicy|ValidatingAdmissionPolicy)\w*\./,
  /^admissionregistration\/v1\.(?:Mutation|NamedRuleWithOperations|ParamKind|ParamRef|TypeChecking|Validation|Variable)\./,
  /^admissionregistration\/v1\.(?:Mutating|Validating)Webhook\.matchConditions$/,
  /^apiextensions\/v1\.(?:CustomResourceDefinitionVersion\.selectableFields|SelectableField\.\w+)$/,
  /^apiextensions\/v1\.ValidationRule\.(?:fieldPath|messageExpression|optionalOldSelf|reason)$/,
  /^authentication\/v1\.SelfSubjectReview(?:Status)?\./,
  /^authorization\/v1\.(?:ResourceAttributes\.(?:field|label)Selector|(?:Field|Label)SelectorAttributes\.\w+)$/,
  /^meta\/v1\.FieldSelectorRequirement\./,
  /^storagemigration\/v1\./,
]

const upstream = readFileSync(new URL('upstream-fields.txt', import.meta.url), 'utf8').split('\n')

describe('types by level', () => {
  test.each(levels)('EMV-10: at 1.%d every field has the tag, list type, merge key and required mark of Kubernetes', (level) => {
    const [wanted, described] = [upstreamFieldsAt(level), describedFieldsAt(level)]
    const [missing, ours] = [Object.keys(wanted).filter((path) => !(path in described)), Object.keys(described)]
    expect(missing).toEqual([])
    expect(ours.filter((path) => !(path in wanted) && !early.some((one) => one.test(path)))).toEqual([])
    const other = ours.filter((path) => path in wanted && described[path] !== wanted[path])
    expect(other.map((path) => `${path}: ${described[path]}, not ${wanted[path]}`)).toEqual([])
    expect(Object.keys(wanted).length).toBeGreaterThan(1900)
  })

  test('EMV-10: fields keep their order in JSON at each level', () => {
    for (const level of levels) {
      const order = (paths: string[], others: Fields) => paths.filter((path) => path in others)
      const [wanted, described] = [upstreamFieldsAt(level), describedFieldsAt(level)]
      expect(order(Object.keys(described).sort(byType), wanted)).toEqual(order(Object.keys(wanted).sort(byType), described))
    }
  })

  test('EMV-11: a type that is equal at two levels is one value, and so are its equal parts', () => {
    expect(typeNameAt('core/v1.ConfigMap', 37)).toBe(typeNameAt('core/v1.ConfigMap', 34))
    expect(resolveType(typeNameAt('core/v1.Toleration', 34))).toBe(resolveType('core/v1.Toleration'))
    const [older, newer] = [25, 37].map((level) => resolveStruct(typeNameAt('core/v1.PodSpec', level)))
    const fieldOf = (name: string, fields: readonly Field[] = []) => fields.find((field) => field.name === name)
    expect(fieldOf('hostname', newer?.fields)).toBe(fieldOf('hostname', older?.fields))
    expect(fieldOf('hostnameOverride', older?.fields)).toBeUndefined()
    expect(typeNameAt(typeNameAt('core/v1.PodSpec', 37), 25)).toBe('core/v1.PodSpec')
  })

  test('EMV-11: values of a later level are unknown before it', () => {
    const valuesAt = (level: number) => {
      const node = resolveType(typeNameAt('batch/v1.PodFailurePolicyAction', level))
      return node.kind === 'string' ? node.values : undefined
    }
    expect(valuesAt(27)).toEqual(['Count', 'FailJob', 'Ignore'])
    expect(valuesAt(28)).toEqual(['Count', 'FailIndex', 'FailJob', 'Ignore'])
  })
})

/** Compares type names; fields keep their order, since sorting is stable. */
function byType(one: string, other: string): number {
  const [left, right] = [typeOfPath(one), typeOfPath(other)]
  return left < right ? -1 : Number(left > right)
}

function typeOfPath(path: string): string {
  return path.split('.', 2).join('.')
}

function upstreamFieldsAt(level: number): Fields {
  const fields: Fields = {}
  let type: string | undefined
  for (const line of upstream) {
    if (line.startsWith('#') || line === '') continue
    const words = line.trim().split(' ')
    const range = words.slice(1).find((word) => /^\d*-\d*$/.test(word))
    const isThere = isInRange(range, level)
    if (!line.startsWith(' ')) type = isThere ? words[0] : undefined
    else if (type !== undefined && isThere) Object.assign(fields, upstreamField(type, words, level))
  }
  return fields
}

function isInRange(range: string | undefined, level: number): boolean {
  const [since, until] = (range ?? '-').split('-')
  return (since === '' || Number(since) <= level) && (until === '' || level <= Number(until))
}

function upstreamField(type: string, [nameAndTag = '', ...words]: readonly string[], level: number): Fields {
  const [name, tag = ''] = nameAndTag.split('=')
  let attributes = ''
  for (const word of words) {
    const [, since, changed] = /^(\d+):(.*)$/.exec(word) ?? []
    if (since === undefined && !/^\d*-\d*$/.test(word)) attributes = word
    if (since !== undefined && Number(since) <= level) attributes = changed ?? ''
  }
  return { [`${type}.${name}`]: `${tag} ${attributes}` }
}

function describedFieldsAt(level: number): Fields {
  const fields: Fields = {}
  for (const type of allTypeNames()) {
    if (!/\/v\d+\./.test(type) || !hasTypeAt(type, level)) continue
    const node: Node = resolveType(typeNameAt(type, level))
    if (node.kind !== 'struct') continue
    for (const field of node.fields) {
      if (node.hasTypeMeta && (field.name === 'kind' || field.name === 'apiVersion')) continue
      fields[`${plainNameOf(type)}.${field.name}`] = printField(field)
    }
  }
  return fields
}

function printField({ tag, required, listedAsRequired, listType, listMapKeys, patchMergeKey, patchStrategy }: Field): string {
  const keys = listMapKeys === undefined ? '' : `(${listMapKeys.join(',')})`
  const isMerged = patchMergeKey !== undefined || patchStrategy !== undefined
  const attributes = [
    ...(required || listedAsRequired ? ['!'] : []),
    ...(listType === undefined ? [] : [`l:${listType}${keys}`]),
    ...(isMerged ? [`m:${patchMergeKey ?? ''}/${patchStrategy ?? ''}`] : []),
  ]
  return `${tag ?? ''} ${attributes.join(';')}`
}
