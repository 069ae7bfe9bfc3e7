import type { CelType } from '../types.ts'

/** The local variables at a place of an expression. */
export class Scope {
  /** Their types by name, the innermost last. */
  readonly #types = new Map<string, CelType[]>()

  find(name: string): CelType | undefined {
    return this.#types.get(name)?.at(-1)
  }

  enter(name: string, type: CelType): void {
    const stack = this.#types.get(name)
    if (stack === undefined) this.#types.set(name, [type])
    else stack.push(type)
  }

  leave(name: string): void {
    this.#types.get(name)?.pop()
  }
}
