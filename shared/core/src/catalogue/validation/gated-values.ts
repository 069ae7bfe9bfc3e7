import type { IsGateOn } from '../../feature-gates.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Field, Node } from '../../schema/node.ts'
import { resolveNode } from '../../schema/resolve.ts'
import { memberPath, placeFinder, visitPlaces } from '../field-places.ts'
import { unsupportedValue } from './field-errors.ts'
import type { Part } from './part.ts'

type GatedField = Field & { readonly gatedValues: Readonly<Record<string, string>> }

const gatedFieldsOf = placeFinder((field): field is GatedField => field.gatedValues !== undefined)

/** Values of features that are off, but for those that the live object has in any place. */
export function refuseDisabledValues(type: string, object: Part, live: Part | undefined, isGateOn: IsGateOn): FieldError[] {
  const place = gatedFieldsOf(type)
  if (place === undefined) return []
  const errors: FieldError[] = []
  let before: ReadonlySet<string> | undefined
  visitPlaces(place, object, (struct, fields, path) => {
    for (const { name, node, gatedValues } of fields) {
      for (const value of valuesOf(struct[name])) {
        if (!Object.hasOwn(gatedValues, value) || isGateOn(gatedValues[value]!)) continue
        before ??= liveValues(type, live)
        if (before.has(value)) continue
        const others = knownValues(node).filter((known) => !Object.hasOwn(gatedValues, known))
        errors.push(unsupportedValue(memberPath(path(), name), value, others))
      }
    }
  })
  return errors
}

function liveValues(type: string, live: Part | undefined): ReadonlySet<string> {
  const values = new Set<string>()
  const place = gatedFieldsOf(type)
  if (place === undefined) return values
  visitPlaces(place, live, (struct, fields) => {
    for (const { name } of fields) for (const value of valuesOf(struct[name])) values.add(value)
  })
  return values
}

function valuesOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string')
}

/** The words that the type of a field knows, or that of its items. */
function knownValues(declared: Node): readonly string[] {
  const node = resolveNode(declared)
  if (node.kind === 'list') return knownValues(node.items)
  return node.kind === 'string' ? [...(node.values ?? [])].sort() : []
}
