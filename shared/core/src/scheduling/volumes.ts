import { compareQuantities, parseQuantity } from '../meta/quantity.ts'
import { compileNodeSelector } from '../placement/node-selector.ts'
import { matchesLabels } from '../selectors/labels.ts'
import type { VolumeClaim } from '../workloads/stateful-set/claims.ts'
import { volumeFor, withAnnotations } from '../workloads/volumes/bind.ts'
import { smallestVolume } from '../workloads/volumes/match.ts'
import { classOf, hasAnnotation, requestOf, type StorageClass, type Volume, waitsForConsumer } from '../workloads/volumes/objects.ts'
import { claimNameOf, isMadeFor } from '../workloads/volumes/users.ts'
import { readSelector } from './affinity-terms.ts'
import type { Cluster } from './cluster.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'

/** The claims of a Pod. */
export type ClaimNeeds =
  | { readonly kind: 'none' }
  /** No node can accept the Pod; the text is the reason. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Claims with a volume, and claims that wait for their first consumer. */
  | { readonly kind: 'claims'; readonly bound: readonly VolumeClaim[]; readonly delayed: readonly VolumeClaim[] }

/** The claims of a Pod, or the reason why it cannot be scheduled yet (SCHED-39). */
export function claimNeeds({ pod, namespace, name: podName, volumes }: PodInfo, { objects }: Cluster, rules: SchedulingRules): ClaimNeeds {
  const claims: VolumeClaim[] = []
  for (const volume of volumes) {
    const name = claimNameOf(pod, volume)
    if (name === undefined) continue
    const claim = objects.claim(namespace, name)
    const quoted = `persistentvolumeclaim ${JSON.stringify(name)}`
    if (claim === undefined) {
      const waiting = `waiting for ephemeral volume controller to create the ${quoted}`
      return { kind: 'refused', reason: volume.ephemeral == null ? `${quoted} not found` : waiting }
    }
    if (claim.status.phase === 'Lost') {
      return { kind: 'refused', reason: `${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec.volumeName ?? '')}` }
    }
    if (claim.metadata.deletionTimestamp != null) return { kind: 'refused', reason: `${quoted} is being deleted` }
    if (volume.ephemeral != null && !isMadeFor(claim, pod)) {
      return { kind: 'refused', reason: `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)` }
    }
    claims.push(claim)
  }
  if (claims.length === 0) return { kind: 'none' }
  const bound = claims.filter((claim) => isBound(claim, rules))
  const unbound = claims.filter((claim) => !isBound(claim, rules))
  const isDelayed = (claim: VolumeClaim) =>
    (claim.spec.volumeName ?? '') === '' && waitsForConsumer(objects.storageClass(classOf(claim, rules.volumes)))
  if (!unbound.every(isDelayed)) return { kind: 'refused', reason: 'pod has unbound immediate PersistentVolumeClaims' }
  return { kind: 'claims', bound, delayed: unbound }
}

/** True if a claim and its volume are fully bound. */
export function isBound(claim: VolumeClaim, { volumes }: SchedulingRules): boolean {
  return (claim.spec.volumeName ?? '') !== '' && hasAnnotation(claim, volumes.bindCompleted)
}

/** The plan for a Pod's claims on one node. */
export type VolumePlan = ReturnType<typeof planVolumes>

const notFound = "node(s) didn't find available persistent volumes to bind"

/** Finds volumes or provisioners for a Pod's claims on a node (SCHED-40, SCHED-41). */
export function planVolumes(needs: Extract<ClaimNeeds, { kind: 'claims' }>, node: NodeInfo, cluster: Cluster, rules: SchedulingRules) {
  const reasons: string[] = []
  const problem = boundProblem(needs.bound, node, cluster)
  if (problem === 'unreachable') reasons.push(rules.volumeConflict)
  const search = new Search(needs.delayed, node, cluster, rules)
  if (search.failure !== undefined) reasons.push(search.failure)
  if (problem === 'missing') reasons.push('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')
  return {
    /** Reasons why the node does not fit; empty if it fits. */
    reasons,
    /** Volumes to bind, each with the claim that gets it. */
    bindings: search.bindings,
    /** Claims whose volumes are to be provisioned for the node. */
    provisions: search.provisions,
  }
}

/** The error of the first volume that is missing or not accessible from the node. */
function boundProblem(claims: readonly VolumeClaim[], node: NodeInfo, { objects }: Cluster): 'missing' | 'unreachable' | undefined {
  for (const { spec } of claims) {
    const volume = objects.volume(spec.volumeName ?? '')
    if (volume === undefined) return 'missing'
    if (!isReachable(volume, node)) return 'unreachable'
  }
  return undefined
}

/** Searches volumes for unbound claims: smallest claims first, each with the smallest sufficient volume. */
class Search {
  readonly bindings: { readonly volume: Volume; readonly claim: VolumeClaim }[] = []
  readonly provisions: VolumeClaim[] = []
  readonly failure: string | undefined

  constructor(claims: readonly VolumeClaim[], node: NodeInfo, cluster: Cluster, rules: SchedulingRules) {
    const { volumes: names } = rules
    const toFind: VolumeClaim[] = []
    const toProvision: VolumeClaim[] = []
    for (const claim of claims) {
      const selected = claim.metadata.annotations?.[names.selectedNode]
      if (selected === undefined) toFind.push(claim)
      else if (selected === node.name) toProvision.push(claim)
      else {
        this.failure = notFound
        return
      }
    }
    const taken = new Set<string | undefined>()
    for (const claim of toFind.sort((left, right) => compareQuantities(requestOf(left), requestOf(right)))) {
      const free = [...cluster.objects.volumes()].filter(
        (volume) => !taken.has(volume.metadata.name) && classOf(volume, names) === classOf(claim, names),
      )
      const options = { names, hasAttributeClasses: rules.hasAttributeClasses, isDelayed: true }
      const volume = smallestVolume(claim, free, { ...options, isReachable: (one) => isReachable(one, node) })
      if (volume === undefined) toProvision.push(claim)
      else {
        taken.add(volume.metadata.name)
        this.bindings.push({ volume: volumeFor(volume, claim, names), claim })
      }
    }
    for (const claim of toProvision) {
      this.failure = provisionProblem(claim, node, cluster, rules)
      if (this.failure !== undefined) return
      this.provisions.push(withAnnotations(claim, { [names.selectedNode]: node.name }))
    }
  }
}

function isReachable({ spec: { nodeAffinity } }: Volume, node: NodeInfo): boolean {
  return nodeAffinity?.required == null || compileNodeSelector(nodeAffinity.required)(node)
}

/** The reason why no volume can be provisioned for a claim on a node; undefined if it can. */
function provisionProblem(claim: VolumeClaim, node: NodeInfo, { objects }: Cluster, rules: SchedulingRules): string | undefined {
  const storageClass = objects.storageClass(classOf(claim, rules.volumes))
  const { provisioner = '' } = storageClass ?? {}
  if (storageClass === undefined || provisioner === '' || provisioner === `${rules.volumes.builtInPrefix}no-provisioner`) return notFound
  if (!isAllowed(storageClass, node)) return notFound
  const wanted = claim.spec.resources?.requests?.['storage']
  if (wanted === undefined || objects.csiDriver(provisioner)?.spec.storageCapacity !== true) return undefined
  for (const { storageClassName, capacity, maximumVolumeSize, nodeTopology } of objects.capacities()) {
    const limit = parseQuantity(maximumVolumeSize ?? capacity ?? '')
    const terms = readSelector(nodeTopology)
    const isUsable = storageClassName === storageClass.metadata.name && limit !== undefined && typeof terms === 'object'
    if (isUsable && compareQuantities(limit, requestOf(claim)) >= 0 && matchesLabels(terms, node.labels)) return undefined
  }
  return 'node(s) did not have enough free storage'
}

function isAllowed({ allowedTopologies }: StorageClass, { labels }: NodeInfo): boolean {
  if (allowedTopologies == null || allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions }) =>
    (matchLabelExpressions ?? []).every(({ key, values }) => (values ?? []).includes(labels?.[key] ?? '')),
  )
}
