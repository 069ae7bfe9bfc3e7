import { printRelease } from '@orch/core/feature-gates'
import { type ApiObject, printMicroTime, printTime, toInstant } from '@orch/core/meta'
import { domainGroup, domainLabel, type Names, subdomainLabel } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import type { Node } from '@orch/core/workloads'

/** A node as a test or a flag asks for it. */
export interface NodeSettings {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly BuiltIn<'core/v1.Taint'>[]
  /** Quantities by resource, beside the usual ones. */
  readonly capacity?: Readonly<Record<string, string>>
  /** The value of the label topology…/zone. */
  readonly zone?: string
  readonly region?: string
}

/** The constant parts of a node. */
export interface NodeIdentity {
  readonly settings: NodeSettings
  /** Number of the node, from 0 on, by which it has its addresses. */
  readonly index: number
  readonly names: Names
  /** Minor number of the release. */
  readonly level: number
}

/** Nodes that have an address and a range for their Pods. */
export const nodesMax = 1000
const usualCapacity = { cpu: '8', 'ephemeral-storage': '100Gi', 'hugepages-1Gi': '0', 'hugepages-2Mi': '0', memory: '32Gi', pods: '110' }
const leaseSeconds = 40
const kubeletPort = 10250

/** The address of a node: 10.250.0.1 is the first. */
export function nodeAddress(index: number): string {
  return `10.250.${(index + 1) >> 8}.${(index + 1) & 255}`
}

/** The range for the Pods of a node, without its last number and `/24`: 10.244.0, 10.244.1, … 10.247.255. */
export function podRange(index: number): string {
  return `10.${244 + (index >> 8)}.${index & 255}`
}

type NodeCondition = NonNullable<Node['status']['conditions']>[number]

const conditions = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const

/** Reasons of the events with which a node starts. */
export const startReasons = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'] as const

/** The conditions of a healthy node. A status that stays keeps its time of transition. */
function healthyConditions(before: readonly NodeCondition[], nowMs: number): NodeCondition[] {
  const time = printTime(toInstant(nowMs))
  return conditions.map(([type, status, reason, message]) => {
    const last = before.find((condition) => condition.type === type)
    const lastTransitionTime = last?.status === status ? (last.lastTransitionTime ?? time) : time
    return { type, status, lastHeartbeatTime: time, lastTransitionTime, reason, message }
  })
}

/** True if all conditions of a node are those that it reports. */
export function isHealthy({ status }: Node): boolean {
  return conditions.every(([type, value]) => status.conditions?.find((condition) => condition.type === type)?.status === value)
}

/** The labels that a kubelet keeps. */
export function nodeLabels({ settings, names }: NodeIdentity): Record<string, string> {
  const { name, zone, region, labels } = settings
  return {
    [`beta.${domainLabel(names, 'arch')}`]: 'amd64',
    [`beta.${domainLabel(names, 'os')}`]: 'linux',
    [domainLabel(names, 'arch')]: 'amd64',
    [domainLabel(names, 'hostname')]: name,
    [domainLabel(names, 'os')]: 'linux',
    ...(zone !== undefined && { [subdomainLabel(names, 'topology', 'zone')]: zone }),
    ...(region !== undefined && { [subdomainLabel(names, 'topology', 'region')]: region }),
    ...labels,
  }
}

/** The Node that a kubelet registers. */
export function nodeObject(identity: NodeIdentity, nowMs: number): Node {
  const { settings, index, names } = identity
  const range = `${podRange(index)}.0/24`
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: settings.name,
      labels: nodeLabels(identity),
      annotations: { [subdomainLabel(names, 'volumes', 'controller-managed-attach-detach')]: 'true' },
    },
    spec: { podCIDR: range, podCIDRs: [range], ...(settings.taints && { taints: settings.taints }) },
    status: nodeStatus(identity, [], nowMs),
  }
}

/** The status that a kubelet reports, over the conditions that the API has. */
export function nodeStatus({ settings, index, level }: NodeIdentity, before: readonly NodeCondition[], nowMs: number): Node['status'] {
  const version = `v${printRelease(level)}.0+orch`
  const capacity = { ...usualCapacity, ...settings.capacity }
  const id = `00000000-0000-4000-8000-${index.toString().padStart(12, '0')}`
  return {
    capacity,
    allocatable: capacity,
    conditions: healthyConditions(before, nowMs),
    addresses: [
      { type: 'InternalIP', address: nodeAddress(index) },
      { type: 'Hostname', address: settings.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
    nodeInfo: {
      ...{ machineID: id.replaceAll('-', ''), systemUUID: id, bootID: id },
      kernelVersion: '6.1.0-simulated',
      osImage: 'orch simulated node',
      containerRuntimeVersion: 'containerd://1.6.0-simulated',
      kubeletVersion: version,
      kubeProxyVersion: level < 33 ? version : '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  }
}

/** The Lease by which a node shows that it lives. */
export function nodeLease({ settings: { name }, names }: NodeIdentity, { metadata: { uid = '' } }: ApiObject, nowMs: number): ApiObject {
  return {
    apiVersion: `${domainGroup(names, 'coordination')}/v1`,
    kind: 'Lease',
    metadata: { name, namespace: names.nodeLeaseNamespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: printMicroTime(toInstant(nowMs)) },
  }
}
