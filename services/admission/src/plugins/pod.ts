import type { Attributes } from '@orch/core/contracts'
import { type ApiObject, forbidden, type StatusError } from '@orch/core/meta'
import { nameIn } from './objects.ts'

/** What plugins look at in a Pod. */
export interface Pod extends ApiObject {
  readonly spec: PodSpec
}

export interface PodSpec {
  /** Null where none are given: plugins are asked before the object is validated. */
  readonly containers: readonly Container[] | null
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
  readonly tolerations?: readonly Toleration[]
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly priority?: number
  readonly priorityClassName?: string
  readonly preemptionPolicy?: string
  readonly runtimeClassName?: string
  readonly overhead?: Readonly<Record<string, unknown>>
  readonly securityContext?: Readonly<Record<string, unknown>>
  readonly affinity?: { readonly podAntiAffinity?: AntiAffinity | null } | null
  readonly [field: string]: unknown
}

export interface Container {
  readonly name: string
  readonly image?: string
  readonly imagePullPolicy?: string
  readonly resources?: Resources
  readonly securityContext?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export interface Resources {
  readonly requests?: Amounts
  readonly limits?: Amounts
}

/** Quantities as they are written. */
export type Amounts = Readonly<Record<string, string | number>>

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

interface AntiAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly { readonly topologyKey?: string }[]
}

/** The gateway has checked the types of an object before it asks. */
export function podOf({ object }: Attributes): Pod {
  return object as Pod
}

/** The same Pod with other fields in its spec. */
export function withSpec(pod: Pod, changes: Partial<PodSpec>): Pod {
  return { ...pod, spec: { ...pod.spec, ...changes } }
}

/** All containers of a Pod with the path of each. */
export function containersOf({ spec }: Pod): { readonly container: Container; readonly path: string }[] {
  const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const
  return lists.flatMap((list) => (spec[list] ?? []).map((container, index) => ({ container, path: `spec.${list}[${index}]` })))
}

/** What a plugin refuses: 403 with the object's own name. */
export function forbid(attributes: Attributes, why: string): StatusError {
  const { group, resource } = attributes
  return forbidden({ group, resource }, nameIn(attributes), why)
}
