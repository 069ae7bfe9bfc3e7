import { memo } from '../memo.ts'
import type { Toleration } from '../placement/taints.ts'
import { type PodTerms, termsOf } from './affinity-terms.ts'
import { type Amounts, amountsOf } from './amounts.ts'
import { keyOf, type Labels, type Pod } from './objects.ts'

/** A host port that a Pod requests. */
export interface HostPort {
  readonly protocol: string
  readonly port: number
  /** `0.0.0.0` means all addresses. */
  readonly address: string
}

export type Volume = NonNullable<Pod['spec']['volumes']>[number]

/** A Pod with precomputed facts for filters and scores. */
export interface PodInfo {
  readonly pod: Pod
  /** `namespace/name`. */
  readonly key: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly labels: Labels | undefined
  readonly priority: number
  readonly requested: Amounts
  readonly nonZero: { readonly cpu: number; readonly memory: number }
  /** Like nonZero, without the amounts of the Pod itself. */
  readonly ofContainers: { readonly cpu: number; readonly memory: number }
  readonly hostPorts: readonly HostPort[]
  readonly tolerations: readonly Toleration[]
  readonly terms: PodTerms
  readonly hasAffinity: boolean
  readonly isTerminating: boolean
  readonly volumes: readonly Volume[]
}

/** The compiled form of a Pod, cached per Pod object. */
export const podInfoOf = memo((pod: Pod): PodInfo => {
  const { metadata, spec } = pod
  const { name = '', namespace = '', uid = '', labels } = metadata
  const terms = termsOf(pod)
  return {
    pod,
    key: keyOf(namespace, name),
    name,
    namespace,
    uid,
    labels,
    priority: spec.priority ?? 0,
    ...amountsOf(pod),
    hostPorts: hostPortsOf(spec),
    tolerations: spec.tolerations ?? [],
    terms,
    hasAffinity: terms.required.length + terms.requiredAnti.length + terms.preferred.length > 0,
    isTerminating: metadata.deletionTimestamp != null,
    volumes: spec.volumes ?? [],
  }
})

/** The host ports of containers and sidecars. */
function hostPortsOf({ containers, initContainers }: Pod['spec']): readonly HostPort[] {
  const sidecars = (initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const found: HostPort[] = []
  for (const { ports } of [...(containers ?? []), ...sidecars]) {
    for (const { hostPort = 0, hostIP = '', protocol = '' } of ports ?? []) {
      if (hostPort > 0) found.push({ protocol: protocol || 'TCP', port: hostPort, address: hostIP || '0.0.0.0' })
    }
  }
  return found
}
