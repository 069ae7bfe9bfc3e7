import type { Meter, Source } from './meter.ts'

/** The kinds of values that an expression computes with. */
export type Kind =
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'list'
  | 'map'
  | 'duration'
  | 'timestamp'
  | 'optional'
  | 'type'
  | 'opaque'
  | 'error'

/**
 * A value of an expression. Each value has its kind without a declared type, and plain JSON is a value:
 *
 *   null, boolean, string   themselves
 *   int                     a safe integer as number, any other int64 as bigint
 *   double                  a number that is no safe integer, or a `Double` around a safe integer
 *   list, map               an array, a plain object, or a `ListView`, `MapView`
 *   bytes                   a `Uint8Array`
 *   the rest                an instance of a class below
 */
export type Value = unknown

/** The base of all values with a class of this package. */
export abstract class Boxed {
  abstract readonly kind: Kind
}

/** The error of an evaluation. `&&`, `||` and `?:` can absorb it; every other operation returns it. */
export class CelError extends Boxed {
  override readonly kind = 'error'
  readonly message: string

  constructor(message: string) {
    super()
    this.message = message
  }
}

/** A double whose number would otherwise be read as an int. */
export class Double extends Boxed {
  override readonly kind = 'double'
  readonly value: number

  constructor(value: number) {
    super()
    this.value = value
  }
}

/** An unsigned integer of 64 bits. */
export class Uint extends Boxed {
  override readonly kind = 'uint'
  readonly value: bigint

  constructor(value: bigint) {
    super()
    this.value = value
  }
}

/** A span of time in nanoseconds. */
export class Duration extends Boxed {
  override readonly kind = 'duration'
  readonly ns: bigint

  constructor(ns: bigint) {
    super()
    this.ns = ns
  }
}

/** A point in time in nanoseconds since 1970, UTC. It is printed with the offset that it was read with. */
export class Timestamp extends Boxed {
  override readonly kind = 'timestamp'
  readonly ns: bigint
  readonly offsetSeconds: number

  constructor(ns: bigint, offsetSeconds = 0) {
    super()
    this.ns = ns
    this.offsetSeconds = offsetSeconds
  }
}

/** A value that may be absent. */
export class Optional extends Boxed {
  override readonly kind = 'optional'
  readonly value: Value
  readonly hasValue: boolean

  constructor(value: Value, hasValue: boolean) {
    super()
    this.value = value
    this.hasValue = hasValue
  }
}

/** `optional.none()`. */
export const none = new Optional(undefined, false)

/** An optional with a value. */
export function some(value: Value): Optional {
  return new Optional(value, true)
}

/** A type as a value: the result of `type(x)`, and the meaning of `int` in an expression. */
export class TypeValue extends Boxed {
  override readonly kind = 'type'
  readonly name: string

  constructor(name: string) {
    super()
    this.name = name
  }
}

/** A value of a library's own type: an IP address, a URL, a quantity. */
export abstract class Opaque extends Boxed {
  override readonly kind = 'opaque'
  abstract readonly typeName: string
  /** The size for the cost of an operation. */
  get size(): number {
    return 1
  }
  /** True if both are equal; `other` has the same type. */
  abstract equals(other: Opaque): boolean
}

/** A list with its own way to read items, such as an array with a schema. */
export abstract class ListView extends Boxed {
  override readonly kind = 'list'
  abstract readonly size: number
  /** The item at an index from 0 to size - 1. */
  abstract at(meter: Meter, index: number): Value
  /** The result of `+` with this list on the left; undefined to append. */
  plus(_meter: Meter, _right: Value): Value | undefined {
    return undefined
  }
  /** The result of `==` with this list on one side; undefined to compare item by item. */
  isEqual(_meter: Meter, _other: Value): Value | undefined {
    return undefined
  }
  /** The source of this list. Lists with the same source equal the same values. */
  get source(): Source | undefined {
    return undefined
  }
}

/** A map, or an object with fields, with its own way to read entries. */
export abstract class MapView extends Boxed {
  override readonly kind = 'map'
  /** Number of entries. */
  abstract size(meter: Meter): number
  /** The value at a key; undefined if the key is absent. */
  abstract get(meter: Meter, key: Value): Value | undefined
  abstract keys(meter: Meter): Iterable<Value>
  /** The result of `type(x)`. */
  get typeName(): string {
    return 'map'
  }
  /** The result of `==` with this map on one side; undefined to compare entry by entry. */
  isEqual(_meter: Meter, _other: Value): Value | undefined {
    return undefined
  }
  /** The source of this map. Maps with the same source equal the same values. */
  get source(): Source | undefined {
    return undefined
  }
}

export function toDouble(value: number): Value {
  return Number.isSafeInteger(value) ? new Double(value) : value
}

/** An int as a value. The caller checks the range. */
export function toInt(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}

export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
      return Number.isSafeInteger(value) ? 'int' : 'double'
    case 'bigint':
      return 'int'
    case 'object':
      if (value === null) return 'null'
      if (value instanceof Boxed) return value.kind
      if (Array.isArray(value)) return 'list'
      return value instanceof Uint8Array ? 'bytes' : 'map'
    default:
      return 'error'
  }
}

/** True for an int. */
export function isInt(value: Value): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
}

/** The number of a double; undefined for any other kind. */
export function doubleOf(value: Value): number | undefined {
  if (value instanceof Double) return value.value
  return typeof value === 'number' && !Number.isSafeInteger(value) ? value : undefined
}

/** The number of an int, uint or double, exact; undefined for any other kind. */
export function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return value instanceof Double || value instanceof Uint ? value.value : undefined
}

const typeNames: Readonly<Record<Exclude<Kind, 'opaque' | 'map'>, string>> = {
  null: 'null_type',
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  list: 'list',
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
  optional: 'optional_type',
  type: 'type',
  error: 'error',
}

/** The name of a value's type, as expressions spell it. */
export function typeNameOf(value: Value): string {
  if (value instanceof Opaque || value instanceof MapView) return value.typeName
  const kind = kindOf(value)
  return kind === 'map' || kind === 'opaque' ? 'map' : typeNames[kind]
}

const noSuchOverloadError = new CelError('no such overload')

/** The error of an operation on operands without an overload. */
export function noSuchOverload(): CelError {
  return noSuchOverloadError
}
