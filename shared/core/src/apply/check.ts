import { at } from '@orch/cel/at'
import { looseTypeName, printAsSource, printLoosely } from '../json/go-text.ts'
import { hasMembers, isJsonObject } from '../json/member.ts'
import { itemElement, itemProblem } from './list-items.ts'
import { describeElement, type ElementText, fieldElement } from './path-element.ts'
import type { ListShape, ObjectShape, ScalarShape, Shape } from './shape.ts'

/** Maximum depth for ownership, which is computed by recursion. Values described by a schema are never this deep. */
export const ownedDepthMax = 1_000
/** Number of problems after which a value is checked no further: the rest of it could repeat them in megabytes of text. */
const problemsMax = 2_000

/**
 * The problems that prevent ownership of the parts of a value: fields unknown to the schema, values of the wrong type,
 * items without keys or with duplicate keys. Each line begins with a path: `.spec.nope: field not declared in schema`. `depth` is
 * the depth of the value in its object.
 */
export function findUnownable(shape: Shape, value: unknown, depth = 0): string[] {
  const problems: string[] = []
  walk(shape, value, { parent: undefined, element: '', depth, problems, mayRepeat: false })
  return problems
}

/** Parts of live objects that were checked without a problem, by shape. Writes share unchanged parts. */
const ownableParts = new WeakMap<object, Shape>()

/**
 * As `findUnownable`, for a live object: items may have the same keys. Such an object is never changed, so that checked parts are not
 * checked again.
 */
export function findUnownableParts(shape: ObjectShape, object: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = []
  const root: Place = { parent: undefined, element: '', depth: 0, problems, mayRepeat: true }
  for (const key in object) {
    const inner = shape.fields.get(key)?.shape
    const part = object[key]
    if (hasMembers(part) && inner !== undefined && ownableParts.get(part) === inner) continue
    if (isFull(root)) break
    const before = problems.length
    walkMember(shape, key, part, root)
    if (hasMembers(part) && inner !== undefined && problems.length === before) ownableParts.set(part, inner)
  }
  return problems
}

/** All problems in one message: one line, or a list. */
export function joinProblems(problems: readonly string[]): string {
  return problems.length === 1 ? at(problems, 0) : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n')
}

/** The place of the current value. Its path is built only for a problem. */
interface Place {
  readonly parent: Place | undefined
  readonly element: ElementText
  readonly depth: number
  readonly problems: string[]
  /** Items of a list may have the same keys. */
  readonly mayRepeat: boolean
}

function walk(shape: Shape, value: unknown, place: Place): void {
  if (value === null || value === undefined) return
  if (place.depth > ownedDepthMax) {
    report(place, `nested deeper than ${ownedDepthMax} levels`)
    return
  }
  switch (shape.kind) {
    case 'scalar':
      checkScalar(shape, value, place)
      return
    case 'list':
      if (Array.isArray(value)) walkList(shape, value, place)
      else report(place, `expected list, got &{${printLoosely(value)}}`)
      return
    case 'object':
      if (isJsonObject(value)) walkObject(shape, value, place)
      else report(place, `expected map, got &{${printLoosely(value)}}`)
      return
    case 'untyped':
      walkUntyped(shape, value, place)
      return
  }
}

function isFull({ problems }: Place): boolean {
  return problems.length >= problemsMax
}

function report(place: Place, problem: string): void {
  place.problems.push(`${pathOf(place)}: ${problem}`)
}

function pathOf({ parent, element }: Place): string {
  return parent === undefined ? '' : pathOf(parent) + describeElement(element)
}

/** Checks a value without a schema, for which only the depth matters. */
function walkUntyped(shape: Shape, value: unknown, place: Place): void {
  if (isJsonObject(value)) {
    for (const key in value) walk(shape, value[key], below(place, fieldElement(key)))
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      walk(shape, item, below(place, `i:${index}`))
    })
  }
}

function below(parent: Place, element: ElementText): Place {
  return { parent, element, depth: parent.depth + 1, problems: parent.problems, mayRepeat: parent.mayRepeat }
}

/** As in kube-apiserver, the first unknown field ends the check of its object. */
function walkObject(shape: ObjectShape, value: Record<string, unknown>, place: Place): void {
  for (const key in value) if (isFull(place) || !walkMember(shape, key, value[key], place)) return
}

/** False for an unknown field. */
function walkMember(shape: ObjectShape, key: string, value: unknown, place: Place): boolean {
  const field = shape.fields.get(key)
  const inner = field?.shape ?? shape.values
  if (inner === undefined) report(below(place, fieldElement(key)), 'field not declared in schema')
  else walk(inner, value, below(place, field?.element ?? fieldElement(key)))
  return inner !== undefined
}

function walkList(shape: ListShape, items: readonly unknown[], place: Place): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    if (isFull(place)) return
    const element = shape.listType === 'atomic' ? `i:${index}` : itemElement(shape, item)
    if (element === undefined) {
      report(place, `element ${index}: ${itemProblem(shape, item)}`)
      return
    }
    if (!place.mayRepeat && seen.has(element)) report(place, `duplicate entries for key ${describeElement(element)}`)
    seen.add(element)
    walk(shape.items, item, below(place, element))
  }
}

function checkScalar({ type }: ScalarShape, value: unknown, place: Place): void {
  switch (type) {
    case 'string':
      if (typeof value !== 'string') report(place, `expected string, got &value.valueUnstructured{Value:${printAsSource(value)}}`)
      return
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        report(place, `expected numeric (int or float), got ${looseTypeName(value)}`)
      return
    case 'boolean':
      if (typeof value !== 'boolean') report(place, `expected boolean, got &{${printLoosely(value)}}`)
      return
    case 'any':
      if (typeof value === 'object') report(place, `expected any scalar, got &{${printLoosely(value)}}`)
      return
  }
}
