import { type Names, subdomainLabel } from '../../names.ts'
import type { BuiltIn } from '../../schema/built-in.ts'

/** A DaemonSet as its controller sees it. */
export type DaemonSet = BuiltIn<'apps/v1.DaemonSet'>

export type Template = BuiltIn<'core/v1.PodTemplateSpec'>

export type Toleration = BuiltIn<'core/v1.Toleration'>

/** The label with the template generation of a Pod, which predates revisions. */
const generationLabel = 'pod-template-generation'

/** The annotation with the template generation of a set; the API server counts it. */
const generationAnnotation = 'deprecated.daemonset.template.generation'

/** Labels of new Pods: those of the template, the hash and the template generation (WL-DS-07). */
export function podLabels(set: DaemonSet, hash: string): Readonly<Record<string, string>> {
  const generation = templateGeneration(set)
  return {
    ...set.spec.template.metadata?.labels,
    ...(generation !== undefined && { [generationLabel]: generation }),
    [revisionLabel]: hash,
  }
}

/** The label with the hash of a Pod's template, which revisions of DaemonSets also have. */
export const revisionLabel = 'controller-revision-hash'

/** True if a Pod with these labels has the current template, by hash or by generation (WL-DS-20). */
export function isUpdated(labels: Readonly<Record<string, string>> | undefined, set: DaemonSet, hash: string): boolean {
  if (labels?.[revisionLabel] === hash) return true
  const generation = templateGeneration(set)
  return generation !== undefined && labels?.[generationLabel] === generation
}

/** The template generation; undefined if the annotation is absent or invalid. */
function templateGeneration({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[generationAnnotation] ?? ''
  return /^[-+]?\d{1,18}$/.test(text) ? String(Number.parseInt(text, 10)) : undefined
}

/** Tolerations of every DaemonSet Pod. The last one is for Pods with host networking. */
export function daemonTolerations(names: Names): { readonly all: readonly Toleration[]; readonly ofHostNetwork: Toleration } {
  const tolerate = (taint: string, effect: 'NoExecute' | 'NoSchedule'): Toleration => ({
    key: subdomainLabel(names, 'node', taint),
    operator: 'Exists',
    effect,
  })
  return {
    all: [
      tolerate('not-ready', 'NoExecute'),
      tolerate('unreachable', 'NoExecute'),
      tolerate('disk-pressure', 'NoSchedule'),
      tolerate('memory-pressure', 'NoSchedule'),
      tolerate('pid-pressure', 'NoSchedule'),
      tolerate('unschedulable', 'NoSchedule'),
    ],
    ofHostNetwork: tolerate('network-unavailable', 'NoSchedule'),
  }
}
