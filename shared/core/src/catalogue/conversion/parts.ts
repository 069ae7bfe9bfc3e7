import { isJsonObject, setMember } from '../../json/member.ts'

/** A part of an object of any version. */
export type Json = Readonly<Record<string, unknown>>

/** A copy of an object with a changed part at a path; the object itself if it has no part there. */
export function changedAt<T extends Json>(object: T, [name = '', ...rest]: readonly string[], change: (part: Json) => Json): T {
  const part = object[name]
  if (!isJsonObject(part)) return object
  return { ...object, [name]: rest.length === 0 ? change(part) : changedAt(part, rest, change) }
}

/** A copy of a part with changed items of a list; the part itself if it has no such list. */
export function withItems<T extends Json>(part: T, name: string, change: (item: Json) => Json): T {
  const items: unknown = part[name]
  if (!Array.isArray(items)) return part
  return { ...part, [name]: items.map((item: unknown) => (isJsonObject(item) ? change(item) : item)) }
}

/** A copy of a part whose members have other names. */
export function renamed(part: Json, names: ReadonlyMap<string, string>): Json {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(part)) setMember(copy, names.get(name) ?? name, part[name])
  return copy
}
