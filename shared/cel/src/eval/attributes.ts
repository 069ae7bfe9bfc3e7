import { isList, isMap, listAt, listSize, mapGet } from '../values/collections.ts'
import type { Meter } from '../values/meter.ts'
import { Boxed, CelError, doubleOf, isInt, kindOf, MapView, none, Optional, some, Uint, type Value } from '../values/values.ts'
import { charge, type Frame, type Step } from './program.ts'

/** The text of a key in an error. */
function printKey(key: Value): string {
  if (key instanceof Uint) return String(key.value)
  return typeof key === 'object' ? kindOf(key) : String(key)
}

function noSuchKey(key: Value): CelError {
  return new CelError(`no such key: ${printKey(key)}`)
}

/** The array index for an index value; an error for an invalid one. */
function placeOf(index: Value): number | CelError {
  if (isInt(index)) return Number(index)
  if (index instanceof Uint) return Number(index.value)
  const double = doubleOf(index)
  if (double === undefined) return new CelError(`unsupported index type '${kindOf(index)}' in list`)
  return Number.isInteger(double) ? double : new CelError(`unsupported index value ${double} in list`)
}

/** The value of `container[key]`; undefined for an absent key. */
function find(meter: Meter, container: Value, key: Value): Value | undefined {
  if (isMap(container)) return mapGet(meter, container, key)
  if (!isList(container)) return undefined
  const place = placeOf(key)
  if (place instanceof CelError) return place
  return place >= 0 && place < listSize(container) ? listAt(meter, container, place) : undefined
}

function missing(container: Value, key: Value): CelError {
  if (!isList(container)) return noSuchKey(key)
  return new CelError(`index out of bounds: ${printKey(key)}`)
}

/** `operand.field`: one unit in addition to the operand. */
export function planSelect(operand: Step, field: string): Step {
  const read = readerOf(field)
  return (frame) => {
    const container = operand(frame)
    if (!(container instanceof Boxed)) {
      charge(frame, 1)
      const found = read(container)
      return found === undefined ? noSuchKey(field) : found
    }
    if (container instanceof CelError) return container
    if (container instanceof Optional) return indexInOptional(frame, container, field, 1)
    charge(frame, 1)
    const found = container instanceof MapView ? container.get(frame.meter, field) : undefined
    return found === undefined ? noSuchKey(field) : found
  }
}

/** Reads a property of plain JSON; undefined if it is absent. Names that every object inherits need a check for own properties. */
function readerOf(field: string): (container: Value) => Value | undefined {
  const isInherited = field in Object.prototype
  return (container) => {
    if (typeof container !== 'object' || container === null || Array.isArray(container)) return undefined
    return isInherited && !Object.hasOwn(container, field) ? undefined : (container as Readonly<Record<string, unknown>>)[field]
  }
}

/** `operand.?field`: an optional. */
export function planOptionalSelect(operand: Step, field: string): Step {
  return (frame) => {
    const container = operand(frame)
    if (container instanceof CelError) return container
    return indexInOptional(frame, optionalOf(container), field, 1)
  }
}

/** The operand of an optional selection. A value without fields and items, such as null, is none. */
function optionalOf(container: Value): Optional {
  if (container instanceof Optional) return container
  return isMap(container) || isList(container) ? some(container) : none
}

/** `has(operand.field)`. */
export function planPresence(operand: Step, field: string): Step {
  const read = readerOf(field)
  return (frame) => {
    const container = operand(frame)
    if (!(container instanceof Boxed)) {
      charge(frame, 1)
      return Array.isArray(container) ? noSuchKey(field) : read(container) !== undefined
    }
    if (container instanceof CelError) return container
    if (container instanceof Optional) {
      const found = container.hasValue && isMap(container.value) && mapGet(frame.meter, container.value, field) !== undefined
      if (found) charge(frame, 1)
      return found
    }
    charge(frame, 1)
    if (!(container instanceof MapView)) return isList(container) ? noSuchKey(field) : false
    const found = container.get(frame.meter, field)
    return found instanceof CelError ? found : found !== undefined
  }
}

/** `operand[key]`; `cost` is the step's cost besides the key. */
export function planIndex(operand: Step, key: Step, cost: number): Step {
  return (frame) => {
    const container = operand(frame)
    if (container instanceof CelError) return container
    if (container instanceof Optional && !container.hasValue) return container
    const at = key(frame)
    if (container instanceof Optional) return at instanceof CelError ? at : indexInOptional(frame, container, at, cost)
    charge(frame, cost)
    if (at instanceof CelError) return at
    const found = find(frame.meter, container, at)
    return found === undefined ? missing(container, at) : found
  }
}

/** A field or an item of an optional. For none, the result is none and the cost is 0. */
function indexInOptional(frame: Frame, optional: Optional, key: Value, cost: number): Value {
  if (!optional.hasValue) return optional
  const container = optional.value
  if (!isMap(container) && !isList(container)) return noSuchKey(key)
  const found = find(frame.meter, container, key)
  if (found === undefined) return none
  charge(frame, cost)
  return found instanceof CelError ? found : some(found)
}

/** `operand[?key]`: an optional. */
export function planOptionalIndex(operand: Step, key: Step, cost: number): Step {
  return (frame) => {
    const container = operand(frame)
    if (container instanceof CelError) return container
    const optional = optionalOf(container)
    if (!optional.hasValue) return optional
    const at = key(frame)
    return at instanceof CelError ? at : indexInOptional(frame, optional, at, cost)
  }
}
