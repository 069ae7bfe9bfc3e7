/** An entry of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly time?: string
  readonly fieldsV1?: FieldSet
}

/** A set of fields, as `fieldsV1` has it. */
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

/** Finds the managers of each value of an object, as `managedFields` says. A value without an entry has none. */
export function blameOf(object: unknown, managedFields: readonly ManagedFields[]): (path: readonly (string | number)[]) => Blame[] {
  const entries = managedFields.map(({ manager = '', operation = '', subresource = '', time = '', fieldsV1 = {} }) => ({
    blame: { manager, operation, subresource, time },
    fieldsV1,
  }))
  return (path) => entries.filter(({ fieldsV1 }) => owns(fieldsV1, object, path)).map(({ blame }) => blame)
}

/** True if a set has this place as its own: as an element without inner ones, or by `.`. */
function owns(set: FieldSet, object: unknown, path: readonly (string | number)[]): boolean {
  let here: FieldSet | undefined = set
  let value = object
  for (const element of path) {
    if (typeof value !== 'object' || value === null) return false
    const next: unknown = Reflect.get(value, element)
    here = typeof element === 'string' ? here[`f:${element}`] : itemOf(here, next, element)
    if (here === undefined) return false
    // Nothing below an atomic value has an entry: the whole of it is owned.
    if (Object.keys(here).length === 0) return true
    value = next
  }
  return path.length > 0 && '.' in here
}

/** The elements of items with keys, parsed: a list of a thousand items has as many. */
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
