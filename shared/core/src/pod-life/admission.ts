import { addQuantities, compareQuantities, parseQuantity, roundUpQuantity, subtractQuantities, zeroQuantity } from '../meta/quantity.ts'
import { printTime, toInstant } from '../meta/time.ts'
import { domainLabel, type Names } from '../names.ts'
import { requiredNodeAffinity } from '../placement/node-selector.ts'
import { firstUntolerated } from '../placement/taints.ts'
import { amountsWithOverhead } from '../quota/pod-usage.ts'
import { isFinishedPod, type Node, type Pod } from '../workloads/pods.ts'

/** The reason why a node refuses a Pod that is bound to it. */
export interface Refusal {
  readonly reason: string
  readonly message: string
}

export interface AdmissionInput {
  readonly pod: Pod
  readonly node: Node
  readonly others: readonly Pod[]
  readonly names: Names
  readonly level: number
}

const os = 'linux'

/** Resources in the order of the check; others follow. */
const firstResources = ['cpu', 'memory', 'ephemeral-storage']

/**
 * The first reason to refuse a Pod, by the kubelet's rules: system, resources, labels, name, ports, NoExecute taints. Undefined if the
 * node accepts it.
 *
 *   2 of 4 CPUs requested, the Pod requests 3   OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000
 */
export function refusalOf(input: AdmissionInput): Refusal | undefined {
  const { pod, node, others, names, level } = input
  const { spec, metadata } = pod
  const label = metadata.labels?.[domainLabel(names, 'os')]
  if (label !== undefined && label !== os) {
    const message = `Failed to admit pod as the \`${domainLabel(names, 'os')}\` label doesn't match node label`
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message }
  }
  if (spec.os?.name && spec.os.name !== os) {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
  }
  const running = others.filter((other) => !isFinishedPod(other))
  const short = shortage(pod, node, running)
  if (short !== undefined) return short
  const failed = (reason: string, why: string) => ({ reason, message: `Predicate ${reason} failed${level < 27 ? '' : `: ${why}`}` })
  const { name = '', labels } = node.metadata
  if (requiredNodeAffinity(pod)?.({ name, labels }) === false)
    return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return failed('NodeName', "node(s) didn't match the requested node name")
  if (hasPortConflict(pod, running)) return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports")
  const evicting = (node.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
  return firstUntolerated(evicting, spec.tolerations ?? [], false) === undefined
    ? undefined
    : failed('TaintToleration', "node(s) had taints that the pod didn't tolerate")
}

/** The reason of a resize that the node will never allow. */
export const infeasible = 'Infeasible'
/** First level at which the API refuses an infeasible resize. */
const feasibleSince = 36

/** The reason to refuse new resources to a Pod of the node. Undefined if the node has them. */
export function resizeRefusalOf({ pod, node, others, level }: Omit<AdmissionInput, 'names'>): Refusal | undefined {
  const { allocatable = {} } = node.status
  const requested = amountsWithOverhead(pod, 'requests')
  for (const name of level < feasibleSince ? ['cpu', 'memory'] : []) {
    const wanted = requested.get(name) ?? zeroQuantity
    const capacity = parseQuantity(allocatable[name] ?? '0') ?? zeroQuantity
    if (compareQuantities(wanted, capacity) <= 0) continue
    const [much, most] = [wanted, capacity].map((quantity) => roundUpQuantity(quantity, exponentOf(name)))
    return { reason: infeasible, message: `Node didn't have enough capacity: ${name}, requested: ${much}, capacity: ${most}` }
  }
  const running = others.filter((other) => other.metadata.uid !== pod.metadata.uid && !isFinishedPod(other))
  return shortage(pod, node, running)
}

/** The first resource that is insufficient. Extended resources that the node lacks, or that devices provide, are ignored. */
function shortage(pod: Pod, { status }: Node, running: readonly Pod[]): Refusal | undefined {
  const allocatable = status.allocatable ?? {}
  const podsMax = Number(allocatable['pods'] ?? 0)
  if (running.length + 1 > podsMax) return outOf('pods', 1n, BigInt(running.length), BigInt(podsMax))
  const requested = amountsWithOverhead(pod, 'requests')
  for (const { resourceName } of pod.status.extendedResourceClaimStatus?.requestMappings ?? []) requested.delete(resourceName)
  const names = [...firstResources, ...[...requested.keys()].filter((name) => !firstResources.includes(name)).sort()]
  for (const name of names) {
    const wanted = requested.get(name)
    const capacity = parseQuantity(allocatable[name] ?? (firstResources.includes(name) ? '0' : ''))
    if (wanted === undefined || capacity === undefined || compareQuantities(wanted, zeroQuantity) <= 0) continue
    const used = running.reduce(
      (sum, pod) => addQuantities(sum, amountsWithOverhead(pod, 'requests').get(name) ?? zeroQuantity),
      zeroQuantity,
    )
    if (compareQuantities(wanted, subtractQuantities(capacity, used)) <= 0) continue
    const exponent = exponentOf(name)
    return outOf(name, roundUpQuantity(wanted, exponent), roundUpQuantity(used, exponent), roundUpQuantity(capacity, exponent))
  }
  return undefined
}

function outOf(name: string, requested: bigint, used: bigint, capacity: bigint): Refusal {
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`
  return { reason: `OutOf${name}`, message }
}

/** CPUs are printed in thousandths. */
function exponentOf(resource: string): number {
  return resource === 'cpu' ? -3 : 0
}

function hostPortsOf({ spec }: Pod): { readonly protocol: string; readonly hostPort: number; readonly hostIP: string }[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')].flatMap(
    ({ ports }) =>
      (ports ?? []).flatMap(({ hostPort, hostIP, protocol }) =>
        hostPort ? [{ hostPort, hostIP: hostIP || everyAddress, protocol: protocol || 'TCP' }] : [],
      ),
  )
}

const everyAddress = '0.0.0.0'

/** True if a host port is taken: same port and protocol, and the same or all addresses. */
function hasPortConflict(pod: Pod, running: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod)
  if (wanted.length === 0) return false
  const taken = running.flatMap(hostPortsOf)
  return wanted.some(({ hostPort, hostIP, protocol }) =>
    taken.some(
      (other) =>
        other.hostPort === hostPort &&
        other.protocol === protocol &&
        (other.hostIP === hostIP || other.hostIP === everyAddress || hostIP === everyAddress),
    ),
  )
}

/** The status of a Pod that its node refuses. */
export function refusedStatus({ metadata, status }: Pod, { reason, message }: Refusal, { level, nowMs }: RefusalTime): Pod['status'] {
  return {
    ...status,
    ...(level >= 34 && metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...{ phase: 'Failed', reason, message: `${level < 27 ? 'Pod ' : 'Pod was rejected: '}${message}` },
    startTime: printTime(toInstant(nowMs)),
  }
}

interface RefusalTime {
  readonly level: number
  readonly nowMs: number
}
