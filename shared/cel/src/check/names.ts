import type { Reference } from '../checked.ts'
import type { FunctionDeclaration } from '../library.ts'
import type { CelType } from '../types.ts'

/** What a global name means, and its type. */
export interface GlobalName {
  readonly type: CelType
  readonly reference: Reference
}

/** The names that an expression may use. */
export interface Names {
  /** The prefix that names are looked up with first: in `a.b`, `x` is `a.b.x`, `a.x` or `x`. */
  readonly container: string
  findGlobal(name: string): GlobalName | undefined
  /** The type that a struct of this name has, or that the name stands for. */
  findType(name: string): CelType | undefined
  findField(typeName: string, field: string): CelType | undefined
  findFunction(name: string): FunctionDeclaration | undefined
}

/** The first of the names that `name` may be short for in the container for which `find` gives something. */
export function findInContainer<T>(container: string, name: string, find: (candidate: string) => T | undefined): T | undefined {
  if (name.startsWith('.')) return find(name.slice(1))
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))) {
    const found = find(`${prefix}.${name}`)
    if (found !== undefined) return found
  }
  return find(name)
}
