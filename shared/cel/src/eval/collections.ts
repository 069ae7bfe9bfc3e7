import { CelMap } from '../values/collections.ts'
import { CelError, Optional, type Value } from '../values/values.ts'
import { constant, other, type PlannedPart } from './parts.ts'
import { charge, type Frame, type Step } from './program.ts'

/** `[a, ?b]`. With folding, a list of constants is itself a constant. */
export function planList(elements: readonly PlannedPart[], optional: ReadonlySet<number>, isFolded: boolean): PlannedPart {
  if (isFolded && optional.size === 0 && elements.every(({ kind }) => kind === 'constant')) {
    return constant(elements.map(({ value }) => value))
  }
  const steps = elements.map(({ step }) => step)
  return other((frame) => {
    const list: Value[] = []
    for (let index = 0; index < steps.length; index++) {
      const value = steps[index]?.(frame)
      if (value instanceof CelError) {
        charge(frame, 10)
        return value
      }
      if (!optional.has(index)) list.push(value)
      else if (!(value instanceof Optional)) return notOptional(frame, 10)
      else if (value.hasValue) list.push(value.value)
    }
    charge(frame, 10)
    return list
  })
}

/** `{a: b, ?c: d}`. With folding, a map of constants is itself a constant. */
export function planMap(entries: readonly { key: PlannedPart; value: PlannedPart; isOptional: boolean }[], isFolded: boolean): PlannedPart {
  const step: Step = (frame) => {
    const map = new CelMap()
    for (const entry of entries) {
      const key = entry.key.step(frame)
      const value = key instanceof CelError ? key : entry.value.step(frame)
      if (value instanceof CelError) {
        charge(frame, 30)
        return value
      }
      const refused = entry.isOptional && !(value instanceof Optional) ? notOptional(frame, 0) : addEntry(map, key, value, entry.isOptional)
      if (refused !== undefined) {
        charge(frame, 30)
        return refused
      }
    }
    charge(frame, 30)
    return map
  }
  const isConstant = entries.every(({ key, value, isOptional }) => key.kind === 'constant' && value.kind === 'constant' && !isOptional)
  if (!isFolded || !isConstant) return other(step)
  const made = new CelMap()
  for (const { key, value } of entries) if (made.add(key.value, value.value) !== undefined) return other(step)
  return constant(made)
}

/** `Type{field: value}` */
export function planStruct(typeName: string, fields: readonly { name: string; value: PlannedPart; isOptional: boolean }[]): PlannedPart {
  return other((frame) => {
    const made = new CelMap(typeName)
    for (const field of fields) {
      const value = field.value.step(frame)
      const refused = value instanceof CelError ? value : addEntry(made, field.name, value, field.isOptional)
      if (refused !== undefined) {
        charge(frame, 40)
        return refused
      }
    }
    charge(frame, 40)
    return made
  })
}

function addEntry(map: CelMap, key: Value, value: Value, isOptional: boolean): CelError | undefined {
  if (!isOptional) return map.add(key, value)
  if (!(value instanceof Optional)) return new CelError('no such overload')
  return value.hasValue ? map.add(key, value.value) : undefined
}

function notOptional(frame: Frame, cost: number): CelError {
  charge(frame, cost)
  return new CelError('cannot initialize optional entry from non-optional value')
}
