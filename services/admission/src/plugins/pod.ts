import type { Attributes } from '@orch/core/contracts'
import type { BuiltIn } from '@orch/core/schema'
import { newObject } from './objects.ts'

export type Pod = BuiltIn<'core/v1.Pod'>
export type PodSpec = BuiltIn<'core/v1.PodSpec'>
export type Container = BuiltIn<'core/v1.Container'>
export type Toleration = BuiltIn<'core/v1.Toleration'>

/** The requests and limits of a container or a claim. */
export interface Resources {
  readonly requests?: Amounts
  readonly limits?: Amounts
}

/** Quantities in their written form. */
export type Amounts = Readonly<Record<string, string>>

/** The Pod to be written. */
export function podOf(attributes: Attributes): Pod {
  return newObject('core/v1.Pod', attributes)
}

/** A copy of the Pod with other fields in its spec. */
export function withSpec(pod: Pod, changes: Partial<PodSpec>): Pod {
  return { ...pod, spec: { ...pod.spec, ...changes } }
}

/** All containers of a Pod with their paths. */
export function containersOf({ spec }: Pod): { readonly container: Container; readonly path: string }[] {
  const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const
  return lists.flatMap((list) => (spec[list] ?? []).map((container, index) => ({ container, path: `spec.${list}[${index}]` })))
}
