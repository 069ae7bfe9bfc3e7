import { type Names, subdomainLabel } from '../../names.ts'
import type { BuiltIn } from '../../schema/built-in.ts'

/** A StatefulSet as its controller sees it. */
export type StatefulSet = BuiltIn<'apps/v1.StatefulSet'>

/** The label with the name of a Pod's revision. */
export const revisionLabel = 'controller-revision-hash'

/** The labels of a StatefulSet's Pods and revisions. */
export type StatefulSetLabels = ReturnType<typeof statefulSetLabels>

export function statefulSetLabels(names: Names) {
  return {
    podName: subdomainLabel(names, 'statefulset', 'pod-name'),
    podIndex: subdomainLabel(names, 'apps', 'pod-index'),
    revisionHash: subdomainLabel(names, 'controller', 'hash'),
  }
}

/** The ordinals of the desired Pods, from `start` up to but excluding `end`. */
export type Ordinals = ReturnType<typeof ordinalsOf>

export function ordinalsOf({ spec: { ordinals, replicas } }: StatefulSet) {
  const start = ordinals?.start ?? 0
  return { start, end: start + (replicas ?? 1) }
}

/** The ordinal in a member's name: 3 for `web-3` in the set `web`; undefined for other names. */
export function ordinalOf(set: string, name: string | undefined): number | undefined {
  const digits = name?.startsWith(`${set}-`) === true ? name.slice(set.length + 1) : ''
  return /^(0|[1-9]\d{0,9})$/.test(digits) && Number(digits) < 2 ** 31 ? Number(digits) : undefined
}
