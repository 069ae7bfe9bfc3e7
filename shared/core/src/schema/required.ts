import { isJsonObject } from '../json/member.ts'
import type { FieldError } from '../meta/status.ts'
import { printFieldValue } from './go-value.ts'
import { childPath } from './inspect.ts'
import { type Field, isScalar, type Node, type StructNode } from './node.ts'
import { resolveNode, resolveType } from './resolve.ts'

/** Which part of an object a request writes; the other part is not looked at. */
type WrittenPart = 'main' | 'status'

/**
 * Finds what the written part of a body lacks or spells wrongly, by its type alone: required fields that are absent, and values
 * outside a closed set. It wants the body as it came, because the decoder prints zero values where nothing stood.
 */
export type CheckRequired = (body: unknown, part: WrittenPart) => FieldError[]

/** The check of bodies of a type. */
export function requiredChecker(type: string): CheckRequired {
  const check = checkerOf(resolveType(type))
  return (body, part) => {
    const errors: FieldError[] = []
    if (check === undefined || !isJsonObject(body)) return errors
    check(onlyPart(body, part), '', errors)
    return errors.filter(({ field }) => isInPart(field, part))
  }
}

type Check = (value: unknown, path: string, errors: FieldError[]) => void

const nothing: Check = () => {}
const checkers = new WeakMap<Node, { check: Check }>()

/** Undefined: nothing below this node can be missing or misspelt. */
function checkerOf(node: Node): Check | undefined {
  const target = resolveNode(node)
  if (isScalar(target)) return undefined
  switch (target.kind) {
    case 'ref':
      return checkerOf(target)
    case 'struct':
      return structChecker(target)
    case 'list':
      return listChecker(checkerOf(target.items))
    case 'map':
      return mapChecker(checkerOf(target.values))
    case 'string':
      return target.isClosed ? closedChecker(target.values ?? []) : undefined
    case 'variant':
      return undefined
  }
}

/** Built once; a type that contains itself finds the entry of the one being built. */
function structChecker(node: StructNode): Check {
  const known = checkers.get(node)
  if (known !== undefined) return (value, path, errors) => known.check(value, path, errors)
  const entry = { check: nothing }
  checkers.set(node, entry)
  const rules = node.fields.flatMap((field) => fieldRule(field) ?? [])
  entry.check = (value, path, errors) => {
    if (!isJsonObject(value)) return
    for (const { name, isRequired, isNullAllowed, check } of rules) {
      const member = value[name]
      const isAbsent = member === undefined || (member === null && !isNullAllowed)
      if (isAbsent && isRequired) errors.push(requiredValue(childPath(path, name)))
      else if (!isAbsent) check?.(member, childPath(path, name), errors)
    }
  }
  return entry.check
}

interface FieldRule {
  readonly name: string
  readonly isRequired: boolean
  /** Typed clients write null for a list, map or time in which there is nothing. */
  readonly isNullAllowed: boolean
  readonly check?: Check
}

function fieldRule({ name, node, required = false }: Field): FieldRule | undefined {
  const check = checkerOf(node)
  if (check === undefined && !required) return undefined
  return { name, isRequired: required, isNullAllowed: nullMeansEmpty(node), check }
}

function nullMeansEmpty(node: Node): boolean {
  const { kind } = resolveNode(node)
  return (
    kind === 'list' || kind === 'map' || kind === 'time' || kind === 'microTime' || kind === 'bytes' || kind === 'raw' || kind === 'json'
  )
}

function listChecker(check: Check | undefined): Check | undefined {
  if (check === undefined) return undefined
  return (value, path, errors) => {
    if (Array.isArray(value)) for (let index = 0; index < value.length; index++) check(value[index], `${path}[${index}]`, errors)
  }
}

function mapChecker(check: Check | undefined): Check | undefined {
  if (check === undefined) return undefined
  return (value, path, errors) => {
    if (isJsonObject(value)) for (const key of Object.keys(value)) check(value[key], `${path}[${key}]`, errors)
  }
}

function closedChecker(values: readonly string[]): Check {
  const allowed = new Set(values)
  const sorted = [...values].sort()
  return (value, path, errors) => {
    // An empty text is how typed clients write an absent value; where one is wanted, the kind's own rules say so.
    if (typeof value === 'string' && value !== '' && !allowed.has(value)) errors.push(unsupportedValue(path, value, sorted))
  }
}

/** The field is absent or empty though it may not be. */
export function requiredValue(field: string, detail?: string): FieldError {
  return { reason: 'FieldValueRequired', field, message: detail === undefined ? 'Required value' : `Required value: ${detail}` }
}

/** The value is none of those that are allowed. */
export function unsupportedValue(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((text) => JSON.stringify(text)).join(', ')
  return { reason: 'FieldValueNotSupported', field, message: `Unsupported value: ${printFieldValue(value)}: supported values: ${list}` }
}

/** The value is of the right type and yet wrong. */
export function invalidValue(field: string, value: unknown, detail?: string): FieldError {
  const message = `Invalid value: ${printFieldValue(value)}`
  return { reason: 'FieldValueInvalid', field, message: detail === undefined ? message : `${message}: ${detail}` }
}

/** The field may not be there. */
export function forbiddenValue(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` }
}

/** The value stands there a second time. */
export function duplicateValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${printFieldValue(value)}` }
}

/** Requests on the main resource leave the status alone, and the other way round, whatever the body says there. */
function onlyPart(body: Record<string, unknown>, part: WrittenPart): Record<string, unknown> {
  if (part === 'status') return { status: body['status'] }
  const { status: _status, ...rest } = body
  return rest
}

function isInPart(field: string, part: WrittenPart): boolean {
  const isStatus = field === 'status' || field.startsWith('status.')
  return isStatus === (part === 'status')
}
