import { hasMembers, setMember } from '../json/member.ts'

/** Maximum nesting of values; code that walks objects by recursion relies on it. */
export const objectDepthMax = 1_000

export const tooDeepText = `nested deeper than ${objectDepthMax} levels`

/** An object or list is nested deeper than `objectDepthMax`. */
export class OutOfBounds extends Error {
  constructor(text = tooDeepText) {
    super(text)
  }
}

/** Maximum depth of stored objects: the fields in managedFields, and defaults, may be deeper than the object itself. */
export const storedDepthMax = 2 * objectDepthMax

/** True if a value is too deep for an object. It proceeds level by level, since the value may be deeper than the call stack. */
export function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; depth <= objectDepthMax; depth += 1) {
    level = level.flatMap((item) => (hasMembers(item) ? Object.values(item) : []))
    if (level.length === 0) return false
  }
  return true
}

/** The value with all members sorted by name; the value itself if it is sorted. */
export function sortedValue(value: unknown, depth: number, depthMax = objectDepthMax): unknown {
  if (!hasMembers(value)) return value
  if (depth > depthMax) throw new OutOfBounds()
  return Array.isArray(value) ? sortedList(value, depth, depthMax) : sortedObject(value, depth, depthMax)
}

function sortedList(list: readonly unknown[], depth: number, depthMax: number): readonly unknown[] {
  let result: unknown[] | undefined
  for (const [index, item] of list.entries()) {
    const sorted = sortedValue(item, depth + 1, depthMax)
    if (sorted === item) continue
    result ??= [...list]
    result[index] = sorted
  }
  return result ?? list
}

/** Like `sortedValue`, for an object. */
export function sortedObject(
  object: Readonly<Record<string, unknown>>,
  depth: number,
  depthMax = objectDepthMax,
): Readonly<Record<string, unknown>> {
  const draft = new ObjectDraft(object)
  for (const name in object) draft.keep(name, sortedValue(object[name], depth + 1, depthMax))
  return draft.finish()
}

/**
 * An object derived from another, member by member. The original object is reused if all its members are unchanged
 * and sorted by name.
 */
export class ObjectDraft {
  readonly #source: Readonly<Record<string, unknown>>
  #last = ''
  #isSorted = true
  #isChanged = false
  readonly #names: string[] = []
  readonly #values: unknown[] = []

  constructor(source: Readonly<Record<string, unknown>>) {
    this.#source = source
  }

  /** Adds the next member of the source with this value. */
  keep(name: string, value: unknown): void {
    if (value !== this.#source[name]) this.#isChanged = true
    this.#push(name, value)
  }

  /** Skips the next member of the source. */
  drop(): void {
    this.#isChanged = true
  }

  /** Adds a member that the source lacks. */
  add(name: string, value: unknown): void {
    this.#isChanged = true
    this.#push(name, value)
  }

  #push(name: string, value: unknown): void {
    if (name < this.#last) this.#isSorted = false
    this.#last = name
    this.#names.push(name)
    this.#values.push(value)
  }

  /** Returns the sorted object. */
  finish(): Readonly<Record<string, unknown>> {
    if (this.#isSorted && !this.#isChanged) return this.#source
    const result: Record<string, unknown> = {}
    if (this.#isSorted) {
      for (const [index, name] of this.#names.entries()) setMember(result, name, this.#values[index])
      return result
    }
    const order = this.#names.map((_, index) => index).sort((left, right) => (this.#nameAt(left) < this.#nameAt(right) ? -1 : 1))
    for (const index of order) setMember(result, this.#nameAt(index), this.#values[index])
    return result
  }

  #nameAt(index: number): string {
    return this.#names[index] ?? ''
  }
}
