/** The type of an expression. */
export type CelType =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'list'; readonly element: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'optional'; readonly value: CelType }
  | { readonly kind: 'wrapper'; readonly value: CelType }
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly CelType[] }
  | { readonly kind: 'object'; readonly name: string }
  | { readonly kind: 'type'; readonly of: CelType | undefined }
  | { readonly kind: 'parameter'; readonly name: string }

type SimpleKind = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'null' | 'dyn' | 'duration' | 'timestamp' | 'error'

/**
 * Resolves the fields of object types and the type names in an expression. Schemas and built-in kinds implement it, so that expressions
 * are checked against them directly.
 */
export interface TypeProvider {
  /** The type of a name in an expression; undefined for another name. */
  findType(name: string): CelType | undefined
  /** The type of a field of an object type; undefined where the type has no such field. */
  findField(typeName: string, field: string): CelType | undefined
}

/** The types without parts. */
export const types = {
  bool: { kind: 'bool' },
  int: { kind: 'int' },
  uint: { kind: 'uint' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  bytes: { kind: 'bytes' },
  null: { kind: 'null' },
  dyn: { kind: 'dyn' },
  duration: { kind: 'duration' },
  timestamp: { kind: 'timestamp' },
  error: { kind: 'error' },
  /** The type of types. */
  type: { kind: 'type', of: undefined },
} as const satisfies Readonly<Record<string, CelType>>

/** `list(element)` */
export function listOf(element: CelType): CelType {
  return { kind: 'list', element }
}

/** `map(key, value)` */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value }
}

/** `optional_type(value)` */
export function optionalOf(value: CelType): CelType {
  return { kind: 'optional', value }
}

/** The type of an expression whose value is `null` or of the type inside, such as `google.protobuf.Int64Value`. */
export function wrapperOf(value: CelType): CelType {
  return { kind: 'wrapper', value }
}

/** `type(value)`: the type of `int` in an expression. */
export function typeOf(value: CelType): CelType {
  return { kind: 'type', of: value }
}

/** A library's own type, whose values have no fields. */
export function opaqueOf(name: string, ...parameters: readonly CelType[]): CelType {
  return { kind: 'opaque', name, parameters }
}

/** A type with fields, which the type provider knows. */
export function objectOf(name: string): CelType {
  return { kind: 'object', name }
}

/** A type that a call of an overload determines: `A` in `list(A) + list(A)`. */
export function parameterOf(name: string): CelType {
  return { kind: 'parameter', name }
}

/** Maximum length of a type's name in a message: the name of a type that contains itself often may be extremely long. */
const printedLengthMax = 10_000

/** A type as messages name it: `map(string, list(int))`. */
export function printType(type: CelType): string {
  return printWithin({ left: printedLengthMax }, type)
}

function printWithin(budget: { left: number }, type: CelType): string {
  budget.left -= 10
  if (budget.left < 0) return '…'
  const print = (inner: CelType) => printWithin(budget, inner)
  switch (type.kind) {
    case 'list':
      return `list(${print(type.element)})`
    case 'map':
      return `map(${print(type.key)}, ${print(type.value)})`
    case 'optional':
      return `optional_type(${print(type.value)})`
    case 'wrapper':
      return `wrapper(${print(type.value)})`
    case 'opaque':
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(print).join(', ')})`
    case 'object':
    case 'parameter':
      return type.name
    case 'type':
      return type.of === undefined ? 'type' : `type(${print(type.of)})`
    case 'bool':
    case 'int':
    case 'uint':
    case 'double':
    case 'string':
    case 'bytes':
    case 'null':
    case 'dyn':
    case 'duration':
    case 'timestamp':
    case 'error':
      return type.kind === 'error' ? '!error!' : type.kind
  }
}
