import type { IsGateOn } from '../feature-gates.ts'
import { memberPath } from '../json/member.ts'
import { chooseAlternative, type Place, placeFinder, type Struct, visitPlaces } from '../kind/field-places.ts'
import type { DropDisabledFields } from '../kind/kind-readers.ts'
import type { FieldError } from '../meta/status.ts'
import { type Field, type Node, resolveNode } from '../schema/index.ts'
import { unsupportedValue } from '../validation/field-errors.ts'
import type { Part } from '../validation/part.ts'

type GatedField = Field & { readonly featureGate: string }

const gatedFieldsOf = placeFinder((field): field is GatedField => field.featureGate !== undefined)

/**
 * Drops fields of disabled features from objects of a type; undefined if the type has no such fields. If the live object
 * uses a field anywhere, the new object keeps it everywhere, so that values written while the feature was on can still be written.
 */
export function disabledFieldsDropper(type: string): DropDisabledFields | undefined {
  const place = gatedFieldsOf(type)
  return place === undefined ? undefined : (object, live, isGateOn) => dropDisabledFields(place, object, live, isGateOn)
}

function dropDisabledFields<T extends Struct>(place: Place<GatedField>, object: T, live: Struct | undefined, isGateOn: IsGateOn): T {
  // The live object may use the fields, so its parts are not searched.
  const dropped = usedFields(place, object, live)
  for (const field of dropped) if (isGateOn(field.featureGate)) dropped.delete(field)
  if (dropped.size === 0) return object
  for (const field of usedFields(place, live)) dropped.delete(field)
  return dropped.size === 0 ? object : (without(place, object, dropped) as T)
}

/** The used fields within a value, except in parts shared with the live object. */
function usedFields(place: Place<GatedField>, value: unknown, live?: Struct): Set<GatedField> {
  const used = new Set<GatedField>()
  const visit = (struct: Struct, fields: readonly GatedField[], path: () => string) => {
    for (const field of fields) if (isUsed(field, struct, () => listAt(path()))) used.add(field)
  }
  visitPlaces(place, value, visit, live)
  return used
}

/** True if the value of a field needs its feature; `list` is the name of the list that contains the struct. */
function isUsed({ name, valueWhenOff, keptWhenOff }: GatedField, struct: Struct, list: () => string): boolean {
  const value = struct[name]
  if (value === undefined || value === null || value === valueWhenOff) return false
  return keptWhenOff?.(value, list()) !== true
}

/** The list to which a path's last item belongs: `a.b[0]` → `b`. */
function listAt(path: string): string {
  return /(\w+)\[[^\]]*\]$/.exec(path)?.[1] ?? ''
}

/** A copy without the dropped fields that shares all other parts; undefined if the part itself is dropped. */
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

/** Number of items; 0 if the value is not a list. */
function countOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

function namesIn(list: unknown): ReadonlySet<unknown> {
  return new Set(Array.isArray(list) ? list.map((item: Struct) => item['name']) : [])
}

/** Removes the mounts of dropped volumes from a Pod's containers. */
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

/** Finds values of disabled features in an object, except values that the live object has anywhere. */
export type RefuseDisabledValues = (object: Part, live: Part | undefined, isGateOn: IsGateOn) => FieldError[]

/** Refuses values of disabled features in objects of a type; undefined if the type has no such values. */
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

/** The enum values of a field's type, or of its items' type. */
function knownValues(declared: Node): readonly string[] {
  const node = resolveNode(declared)
  if (node.kind === 'list') return knownValues(node.items)
  return node.kind === 'string' ? [...(node.values ?? [])].sort() : []
}
