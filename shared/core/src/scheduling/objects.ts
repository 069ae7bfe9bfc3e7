import type { BuiltIn } from '../schema/built-in.ts'

/** A Pod as the scheduler sees it. */
export type Pod = BuiltIn<'core/v1.Pod'>

/** A Node as the scheduler sees it. */
export type Node = BuiltIn<'core/v1.Node'>

export type Labels = Readonly<Record<string, string>>

/** `namespace/name` of a namespaced object. */
export function keyOf(namespace: string | undefined, name: string | undefined): string {
  return `${namespace ?? ''}/${name ?? ''}`
}
