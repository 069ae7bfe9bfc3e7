import type { Field, Node } from '../description/node.ts'
import type { IsGateOn } from '../feature-gates.ts'
import { chooseAlternative, memberPath, type Place, placeFinder, type Struct, visitPlaces } from '../kind/field-places.ts'
import type { DropDisabledFields } from '../kind/kind-readers.ts'
import type { FieldError } from '../meta/status.ts'
import { resolveNode } from '../schema/resolve.ts'
import { unsupportedValue } from '../validation/field-errors.ts'
import type { Part } from '../validation/part.ts'

type GatedField = Field & { readonly featureGate: string }

const gatedFieldsOf = placeFinder((field): field is GatedField => field.featureGate !== undefined)

/**
 * Drops fields of features that are off from objects of a type; undefined: the type has no such fields. A field that the live object
 * has in any place stays in every place, so that values written while the feature was on can still be written.
 */
export function disabledFieldsDropper(type: string): DropDisabledFields | undefined {
  const place = gatedFieldsOf(type)
  return place === undefined ? undefined : (object, live, isGateOn) => dropDisabledFields(place, object, live, isGateOn)
}

function dropDisabledFields<T extends Struct>(place: Place<GatedField>, object: T, live: Struct | undefined, isGateOn: IsGateOn): T {
  // Fields of the live object may stay, so that its parts need no look.
  const dropped = usedFields(place, object, live)
  for (const field of dropped) if (isGateOn(field.featureGate)) dropped.delete(field)
  if (dropped.size === 0) return object
  for (const field of usedFields(place, live)) dropped.delete(field)
  return dropped.size === 0 ? object : (without(place, object, dropped) as T)
}

/** The fields that say something anywhere in a value, parts of the live object aside. */
function usedFields(place: Place<GatedField>, value: unknown, live?: Struct): Set<GatedField> {
  const used = new Set<GatedField>()
  const visit = (struct: Struct, fields: readonly GatedField[], path: () => string) => {
    for (const field of fields) if (isUsed(field, struct, () => listAt(path()))) used.add(field)
  }
  visitPlaces(place, value, visit, live)
  return used
}

/** True if a field says something that needs its feature; `list` is the name of the list that has its struct. */
function isUsed({ name, valueWhenOff, keptWhenOff }: GatedField, struct: Struct, list: () => string): boolean {
  const value = struct[name]
  if (value === undefined || value === null || value === valueWhenOff) return false
  return keptWhenOff?.value !== value || keptWhenOff.list !== list()
}

/** The list of which a path names an item: `a.b[0]` → `b`. */
function listAt(path: string): string {
  return /(\w+)\[[^\]]*\]$/.exec(path)?.[1] ?? ''
}

/** A copy of the parts that may lead to such fields; everything else is shared. Undefined: the part is dropped as well. */
function without(place: Place<GatedField>, value: unknown, dropped: ReadonlySet<GatedField>, list = ''): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (place.kind === 'each') {
    if (Array.isArray(value)) return value.map((item) => without(place.of, item, dropped, list)).filter((item) => item !== undefined)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, without(place.of, item, dropped, list)]))
  }
  if (place.kind === 'either') {
    const chosen = chooseAlternative(place, value)
    return chosen === undefined ? value : without(chosen, value, dropped, list)
  }
  const struct: Record<string, unknown> = { ...value }
  for (const name of Object.keys(struct)) {
    const before = struct[name]
    const inner = place.inner(name)
    if (inner === undefined) continue
    const after = without(inner, before, dropped, name)
    if (after === undefined || countOf(after) < Math.min(countOf(before), 1)) delete struct[name]
    else struct[name] = after
    if (name === 'volumes' && countOf(after) < countOf(before)) dropMounts(struct, namesIn(before), namesIn(after))
  }
  for (const field of place.fields) {
    if (!dropped.has(field) || !isUsed(field, struct, () => list)) continue
    if (field.dropsPart === 'always') return undefined
    if (field.valueWhenOff === undefined) delete struct[field.name]
    else struct[field.name] = field.valueWhenOff
    if (field.dropsPart === 'whenEmpty' && Object.keys(struct).length === 0) return undefined
  }
  return struct
}

/** Number of items; 0 if the value is no list. */
function countOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

function namesIn(list: unknown): ReadonlySet<unknown> {
  return new Set(Array.isArray(list) ? list.map((item: Struct) => item['name']) : [])
}

/** Containers of a Pod do not mount the volumes that it has lost. */
function dropMounts(spec: Record<string, unknown>, before: ReadonlySet<unknown>, after: ReadonlySet<unknown>): void {
  const isLost = ({ name }: Struct): boolean => before.has(name) && !after.has(name)
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    const containers = spec[list]
    if (!Array.isArray(containers)) continue
    spec[list] = containers.map((container: Struct) => {
      const { volumeMounts, ...others } = container
      if (!Array.isArray(volumeMounts)) return container
      const kept = volumeMounts.filter((mount: Struct) => !isLost(mount))
      return kept.length === 0 ? others : { ...container, volumeMounts: kept }
    })
  }
}

type FieldOfGatedValues = Field & { readonly gatedValues: Readonly<Record<string, string>> }

const gatedValuesOf = placeFinder((field): field is FieldOfGatedValues => field.gatedValues !== undefined)

/** Finds values of features that are off in an object, except those that the live object has in any place. */
export type RefuseDisabledValues = (object: Part, live: Part | undefined, isGateOn: IsGateOn) => FieldError[]

/** Refuses values of features that are off in objects of a type; undefined: the type has no such values. */
export function disabledValuesRefuser(type: string): RefuseDisabledValues | undefined {
  const place = gatedValuesOf(type)
  return place === undefined ? undefined : (object, live, isGateOn) => refuseDisabledValues(place, object, live, isGateOn)
}

function refuseDisabledValues(place: Place<FieldOfGatedValues>, object: Part, live: Part | undefined, isGateOn: IsGateOn): FieldError[] {
  const errors: FieldError[] = []
  let before: ReadonlySet<string> | undefined
  const visit = (struct: Struct, fields: readonly FieldOfGatedValues[], path: () => string) => {
    for (const { name, node, gatedValues } of fields) {
      for (const value of valuesOf(struct[name])) {
        if (!Object.hasOwn(gatedValues, value) || isGateOn(gatedValues[value]!)) continue
        before ??= liveValues(place, live)
        if (before.has(value)) continue
        const others = knownValues(node).filter((known) => !Object.hasOwn(gatedValues, known))
        errors.push(unsupportedValue(memberPath(path(), name), value, others))
      }
    }
  }
  visitPlaces(place, object, visit, live)
  return errors
}

function liveValues(place: Place<FieldOfGatedValues>, live: Part | undefined): ReadonlySet<string> {
  const values = new Set<string>()
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
