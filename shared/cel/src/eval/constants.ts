import type { Expr } from '../ast.ts'
import { type CelType, printType } from '../types.ts'
import { TypeValue, toDouble, toInt, Uint, type Value } from '../values/values.ts'

/** The type as a value; types compare by their names. */
export function typeValueOf(type: CelType): TypeValue {
  switch (type.kind) {
    case 'null':
      return new TypeValue('null_type')
    case 'optional':
      return new TypeValue('optional_type')
    case 'duration':
      return new TypeValue('google.protobuf.Duration')
    case 'timestamp':
      return new TypeValue('google.protobuf.Timestamp')
    case 'opaque':
    case 'object':
      return new TypeValue(type.name)
    case 'list':
    case 'map':
    case 'type':
      return new TypeValue(type.kind)
    default:
      return new TypeValue(printType(type))
  }
}

/** The value of a literal. */
export function constantOf(written: Extract<Expr, { kind: 'constant' }>['constant']): Value {
  switch (written.type) {
    case 'null':
      return null
    case 'int':
      return toInt(written.value)
    case 'uint':
      return new Uint(written.value)
    case 'double':
      return toDouble(written.value)
    case 'bool':
    case 'string':
    case 'bytes':
      return written.value
  }
}
