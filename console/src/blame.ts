/** An entry of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly time?: string
  readonly fieldsV1?: FieldSet
}

/** A set of fields in the format of `fieldsV1`. */
interface FieldSet {
  readonly [element: string]: FieldSet
}

/** The last writer of a field. */
export interface Blame {
  readonly manager: string
  readonly operation: string
  readonly subresource: string
  readonly time: string
}

/** Returns a lookup of the managers of each value of an object, from `managedFields`. A value without an entry has no manager. */
export function blameOf(object: unknown, managedFields: readonly ManagedFields[]): (path: readonly (string | number)[]) => Blame[] {
  const entries = managedFields.map(({ manager = '', operation = '', subresource = '', time = '', fieldsV1 = {} }) => ({
    blame: { manager, operation, subresource, time },
    fieldsV1,
  }))
  return (path) => entries.filter(({ fieldsV1 }) => owns(fieldsV1, object, path)).map(({ blame }) => blame)
}

/** True if a set contains this path itself: as an element without children, or by `.`. */
function owns(set: FieldSet, object: unknown, path: readonly (string | number)[]): boolean {
  let here: FieldSet | undefined = set
  let value = object
  for (const element of path) {
    if (typeof value !== 'object' || value === null) return false
    const next: unknown = Reflect.get(value, element)
    here = typeof element === 'string' ? here[`f:${element}`] : itemOf(here, next, element)
    if (here === undefined) return false
    // An atomic value has one entry, which owns everything below it.
    if (Object.keys(here).length === 0) return true
    value = next
  }
  return path.length > 0 && '.' in here
}

/** Parsed keys of the items in a set; cached, because a list may have a thousand items. */
const keyedElements = new WeakMap<FieldSet, readonly (readonly [keys: readonly (readonly [string, unknown])[], inner: FieldSet])[]>()

function keyedElementsOf(set: FieldSet) {
  const known = keyedElements.get(set)
  if (known !== undefined) return known
  const found = Object.entries(set).flatMap(([element, inner]) => {
    if (!element.startsWith('k:')) return []
    const keys: unknown = JSON.parse(element.slice(2))
    return typeof keys === 'object' && keys !== null ? [[Object.entries(keys), inner] as const] : []
  })
  keyedElements.set(set, found)
  return found
}

function itemOf(set: FieldSet, item: unknown, index: number): FieldSet | undefined {
  const own = set[`i:${index}`] ?? set[`v:${JSON.stringify(item)}`]
  if (own !== undefined || typeof item !== 'object' || item === null) return own
  return keyedElementsOf(set).find(([keys]) => keys.every(([name, value]) => Reflect.get(item, name) === value))?.[1]
}
