import { type CelType, listOf, mapOf, opaqueOf, optionalOf, typeOf, wrapperOf } from '../types.ts'

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
      return type.of === undefined ? [] : [type.of]
    default:
      return []
  }
}

/** The same type with each of its parts replaced; itself where none changes. */
export function mapParts(type: CelType, replace: (part: CelType) => CelType): CelType {
  const before = partsOf(type)
  if (before.length === 0) return type
  const parts = before.map(replace)
  if (parts.every((part, index) => part === before[index])) return type
  const [first, second] = parts
  switch (type.kind) {
    case 'list':
      return listOf(first!)
    case 'map':
      return mapOf(first!, second!)
    case 'optional':
      return optionalOf(first!)
    case 'wrapper':
      return wrapperOf(first!)
    case 'opaque':
      return opaqueOf(type.name, ...parts)
    case 'type':
      return typeOf(first!)
    default:
      return type
  }
}

/** The name of a type of which there are many: `net.IP`, `Object.spec`, `A`. */
export function nameOf(type: CelType): string {
  return type.kind === 'opaque' || type.kind === 'object' || type.kind === 'parameter' ? type.name : ''
}

/** Whether values of the type may stand where any other is expected. */
export function isDynOrError({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'error'
}
