import type { Inquiry } from './plugin.ts'

/** The notes of a plugin's first round for the second. */
export interface ReinvocationMemory {
  /** The object after all webhooks or policies. */
  output: unknown
  /** Webhooks or policies to ask again if the object changes afterwards. */
  readonly reinvocable: Set<string>
  /** The ones after which the object changed. */
  readonly due: Set<string>
}

/** The notes under a plugin's key. */
export function memoryOf({ reinvocation }: Inquiry, key: unknown): ReinvocationMemory {
  const made = reinvocation.memory.get(key) as ReinvocationMemory | undefined
  const memory = made ?? { output: undefined, reinvocable: new Set(), due: new Set() }
  reinvocation.memory.set(key, memory)
  return memory
}

export function objectHasChanged({ reinvocable, due }: ReinvocationMemory): void {
  for (const id of reinvocable) due.add(id)
  reinvocable.clear()
}
