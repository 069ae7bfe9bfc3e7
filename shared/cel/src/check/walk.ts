import { type CelType, listOf, mapOf, opaqueOf, optionalOf, typeOf, wrapperOf } from '../types.ts'

const noParts: readonly CelType[] = []

/** The types that a type consists of. */
export function partsOf(type: CelType): readonly CelType[] {
  switch (type.kind) {
    case 'list':
      return [type.element]
    case 'map':
      return [type.key, type.value]
    case 'optional':
    case 'wrapper':
      return [type.value]
    case 'opaque':
      return type.parameters
    case 'type':
      return type.of === undefined ? noParts : [type.of]
    default:
      return noParts
  }
}

const withParts: ReadonlySet<CelType['kind']> = new Set(['parameter', 'list', 'map', 'optional', 'wrapper', 'opaque', 'type'])

/** True if a type is no parameter and has no parts. */
export function isPlain({ kind }: CelType): boolean {
  return !withParts.has(kind)
}

/** The same type with each part replaced; the type itself if no part changes. */
export function mapParts(type: CelType, replace: (part: CelType) => CelType): CelType {
  switch (type.kind) {
    case 'list': {
      const element = replace(type.element)
      return element === type.element ? type : listOf(element)
    }
    case 'map': {
      const key = replace(type.key)
      const value = replace(type.value)
      return key === type.key && value === type.value ? type : mapOf(key, value)
    }
    case 'optional':
    case 'wrapper': {
      const value = replace(type.value)
      if (value === type.value) return type
      return type.kind === 'optional' ? optionalOf(value) : wrapperOf(value)
    }
    case 'opaque': {
      if (type.parameters.length === 0) return type
      const parameters = type.parameters.map(replace)
      return parameters.every((part, index) => part === type.parameters[index]) ? type : opaqueOf(type.name, ...parameters)
    }
    case 'type': {
      const of = type.of && replace(type.of)
      return of === undefined || of === type.of ? type : typeOf(of)
    }
    default:
      return type
  }
}

/** The name of an opaque type, an object type or a type parameter: `net.IP`, `Object.spec`, `A`. */
export function nameOf(type: CelType): string {
  return type.kind === 'opaque' || type.kind === 'object' || type.kind === 'parameter' ? type.name : ''
}

/** True if values of the type are accepted where any other type is expected. */
export function isDynOrError({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'error'
}
