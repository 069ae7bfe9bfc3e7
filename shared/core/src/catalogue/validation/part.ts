import { isJsonObject } from '../../json/member.ts'

/** A decoded object as the rules see it. */
export type Part = Readonly<Record<string, unknown>>

/** The object in a field; an empty one when there is none. */
export function partOf(parent: Part | undefined, name: string): Part {
  return optionalPart(parent, name) ?? {}
}

/** The object in a field, if there is one. */
export function optionalPart(parent: Part | undefined, name: string): Part | undefined {
  const value = parent?.[name]
  return isJsonObject(value) ? value : undefined
}

/** The items of a list field; none when it is absent. */
export function itemsOf<T = Part>(parent: Part | undefined, name: string): readonly T[] {
  const value = parent?.[name]
  return Array.isArray(value) ? (value as T[]) : []
}

/** The text in a field; `''` when there is none. */
export function textOf(parent: Part | undefined, name: string): string {
  const value = parent?.[name]
  return typeof value === 'string' ? value : ''
}

/** Whether two values print the same. Both come from the decoder, so their fields stand in the same order. */
export function isSame(left: unknown, right: unknown): boolean {
  return print(left) === print(right)
}

/** Places of the items that stand in the list before, too. One pass: lists may have tens of thousands of items. */
export function repeatedPlaces(items: readonly unknown[]): ReadonlySet<number> {
  const known = new Set<string>()
  const repeated = new Set<number>()
  for (const [index, item] of items.entries()) {
    const text = print(item)
    if (known.has(text)) repeated.add(index)
    else known.add(text)
  }
  return repeated
}

/** The texts of a field in all items of a list. */
export function textsOf(items: readonly Part[], name: string): ReadonlySet<string> {
  return new Set(items.map((item) => textOf(item, name)))
}

/** What `isSame` compares. */
export function print(value: unknown): string {
  return JSON.stringify(value ?? null, (_, member: unknown) => {
    if (typeof member === 'bigint') return `${member}n`
    // Stored as null where it is printed.
    if (Array.isArray(member) && member.length === 0) return null
    const isMap = typeof member === 'object' && member !== null && !Array.isArray(member)
    return isMap ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member
  })
}
