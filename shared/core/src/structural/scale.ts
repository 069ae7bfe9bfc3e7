import { looseTypeName, printLoosely } from '../json/go-text.ts'
import { isJsonObject, setMember } from '../json/member.ts'
import type { ScalePaths } from '../kind/resource.ts'
import type { FieldError } from '../meta/status.ts'
import { parseLabelSelector } from '../selectors/labels.ts'
import { invalid } from './field-path.ts'

const replicasMax = 2 ** 31 - 1

type Json = Readonly<Record<string, unknown>>

/** Reads the values of a valid object. */
export function readScale(object: Json, paths: ScalePaths) {
  const spec = valueAt(object, paths.specReplicasPath)
  const status = valueAt(object, paths.statusReplicasPath)
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath)
  return {
    specReplicas: typeof spec === 'number' ? spec : undefined,
    statusReplicas: typeof status === 'number' ? status : 0,
    selector: typeof selector === 'string' ? selector : '',
  }
}

/** The object with changed replicas. Missing objects on the path are created. */
export function withReplicas(object: Json, { specReplicasPath }: ScalePaths, replicas: number): Json {
  return withValue(object, namesOf(specReplicasPath), replicas)
}

function withValue(object: Json, [name = '', ...rest]: readonly string[], value: unknown): Json {
  const inner = object[name]
  const copy: Record<string, unknown> = { ...object }
  setMember(copy, name, rest.length === 0 ? value : withValue(isJsonObject(inner) ? inner : {}, rest, value))
  return copy
}

/** The errors of the values that an object's scale reads. */
export function validateScale(object: Json, paths: ScalePaths): FieldError[] {
  const errors = [...validateReplicas(object, paths.specReplicasPath), ...validateReplicas(object, paths.statusReplicasPath)]
  if (paths.labelSelectorPath !== undefined && paths.labelSelectorPath !== '')
    errors.push(...validateSelectorText(object, paths.labelSelectorPath))
  return errors
}

function validateReplicas(object: Json, path: string): FieldError[] {
  const obstacle = obstacleOf(object, path)
  if (obstacle !== undefined) return [invalid(path, 0, obstacle)]
  const value = valueAt(object, path)
  if (value === undefined) return []
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
  if (!isWhole) return [invalid(path, 0, accessorText(path, value, 'int64'))]
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')]
  return value > replicasMax ? [invalid(path, value, `should be less than or equal to ${replicasMax}`)] : []
}

function validateSelectorText(object: Json, path: string): FieldError[] {
  const obstacle = obstacleOf(object, path)
  if (obstacle !== undefined) return [invalid(path, '', obstacle)]
  const value = valueAt(object, path)
  if (value === undefined) return []
  if (typeof value !== 'string') return [invalid(path, '', accessorText(path, value, 'string'))]
  const reading = parseLabelSelector(value)
  return reading.kind === 'malformed' ? [invalid(path, value, reading.message)] : []
}

/** The error of a value on the path that has no members. A null value ends the path without an error. */
function obstacleOf(object: Json, path: string): string | undefined {
  const names = namesOf(path)
  let value: unknown = object
  for (const [index, name] of names.entries()) {
    if (value === null || value === undefined) return undefined
    if (!isJsonObject(value)) return accessorText(`.${names.slice(0, index + 1).join('.')}`, value, 'map[string]interface{}')
    value = Object.hasOwn(value, name) ? value[name] : undefined
  }
  return undefined
}

function accessorText(path: string, value: unknown, expected: string): string {
  return `${path} accessor error: ${printLoosely(value)} is of the type ${looseTypeName(value)}, expected ${expected}`
}

function namesOf(path: string): string[] {
  return path.replace(/^\./, '').split('.')
}

function valueAt(object: Json, path: string): unknown {
  let value: unknown = object
  for (const name of namesOf(path)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}
