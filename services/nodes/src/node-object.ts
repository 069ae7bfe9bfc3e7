import { printRelease } from '@orch/core/feature-gates'
import { type ApiObject, printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup, domainLabel, type Names, subdomainLabel } from '@orch/core/names'
import {
  addressProblem,
  allocatableOf,
  attachAnnotation,
  type NodeHealth,
  type NodeImage,
  nodeConditions,
  reportedAddresses,
  reportedImages,
  simulatedRuntime,
} from '@orch/core/pod-life'
import type { BuiltIn } from '@orch/core/schema'
import type { Node } from '@orch/core/workloads'

/** A node requested by a test or a flag. */
export interface NodeSettings {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly BuiltIn<'core/v1.Taint'>[]
  /** Quantities by resource, in addition to the defaults. */
  readonly capacity?: Readonly<Record<string, string>>
  /** The reserved part of its capacity. */
  readonly reserved?: Readonly<Record<string, string>>
  /** The IP addresses of its machine; by default one of each family of the cluster, in 10.250.0.0/16 and fd00:10:250::/64. */
  readonly addresses?: readonly string[]
  /** Images that it reports, which the scheduler prefers. */
  readonly images?: readonly NodeImage[]
  /** The value of the label topology…/zone. */
  readonly zone?: string
  readonly region?: string
  /** Maximum volumes of the simulated driver; unlimited by default. */
  readonly volumesMax?: number
}

/** The constant parts of a node. */
export interface NodeIdentity {
  readonly settings: NodeSettings
  /** True for a Node created by a client, whose status is kept. */
  readonly isAdopted: boolean
  /** Number of the node, from 0 on, which determines its addresses. */
  readonly index: number
  readonly names: Names
  readonly level: number
  readonly families: IpFamilies
}

/** The address families of the cluster, the preferred one first. */
export type IpFamilies = readonly (4 | 6)[]

/** Maximum nodes with an address and a range for their Pods. */
const nodesMax = 1000
/** The capacity that a node without settings reports. */
export const usualCapacity = {
  cpu: '8',
  'ephemeral-storage': '100Gi',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '32Gi',
  pods: '110',
}
const leaseSeconds = 40
const kubeletPort = 10250

/** Throws for invalid addresses. */
export function checkSettings({ name, addresses = [] }: NodeSettings): void {
  for (const address of addresses) {
    const problem = addressProblem(address)
    if (problem !== undefined) throw new Error(`node ${name}: addresses: ${address}: must be an IP address of a machine, not ${problem}`)
  }
}

/** The addresses of a node: the first one has 10.250.0.1 and fd00:10:250::1. */
export function nodeAddresses({ index, families }: Pick<NodeIdentity, 'index' | 'families'>): string[] {
  const number = index + 1
  return families.map((family) => (family === 4 ? `10.250.${number >> 8}.${number & 255}` : `fd00:10:250::${number.toString(16)}`))
}

/** The ranges for the Pods of a node: the first one has 10.244.0.0/24 and fd00:10:244:1::/64. */
export function podRanges({ index, families }: Pick<NodeIdentity, 'index' | 'families'>): string[] {
  return families.map((family) =>
    family === 4 ? `10.${244 + (index >> 8)}.${index & 255}.0/24` : `fd00:10:244:${(index + 1).toString(16)}::/64`,
  )
}

/** The number of a Node's existing range, or the first one that none of these nodes has. Throws when all are used. */
export function freeIndex(nodes: Iterable<{ readonly index: number }>, range = ''): number {
  // Called for each of a thousand nodes in one turn of the event loop.
  const taken = new Uint8Array(nodesMax)
  for (const { index } of nodes) taken[index] = 1
  const [, high, low] = /^10\.(24[4-7])\.(\d+)\.0\/24$/.exec(range) ?? []
  const [, number = '1'] = /^fd00:10:244:([\da-f]+)::\/64$/.exec(range) ?? []
  let index = high === undefined ? Number.parseInt(number, 16) - 1 : ((Number(high) - 244) << 8) + Number(low)
  if (taken[index] !== 0) index = 0
  while (taken[index] === 1) index += 1
  if (index >= nodesMax) throw new Error(`there are ${nodesMax} simulated nodes, and no address is left for a further one`)
  return index
}

/** Reasons of the events at the start of a node. */
export const startReasons = ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'] as const

/** The labels with which a node registers. */
function nodeLabels({ settings, names }: NodeIdentity): Record<string, string> {
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
export function nodeObject(identity: NodeIdentity, health: NodeHealth, nowMs: number): Node {
  const { settings, names } = identity
  const podCIDRs = podRanges(identity)
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: settings.name,
      labels: nodeLabels(identity),
      annotations: { [attachAnnotation(names)]: 'true' },
    },
    spec: { podCIDR: podCIDRs[0], podCIDRs, ...(settings.taints && { taints: settings.taints }) },
    status: nodeReport(identity, { health, before: {}, nowMs }).status,
  }
}

interface ReportInput {
  readonly health: NodeHealth
  readonly before: Partial<Node['status']>
  readonly nowMs: number
}

/** The status that a kubelet reports, with the reasons of its events, with unchanged conditions and resources of other clients. */
export function nodeReport({ settings, isAdopted, level, index, families }: NodeIdentity, { health, before, nowMs }: ReportInput) {
  const version = `v${printRelease(level)}.0+orch`
  const given: ReportInput['before'] = isAdopted ? before : {}
  const capacity = { ...usualCapacity, ...given.capacity, ...settings.capacity }
  const allocatable = {
    ...before.capacity,
    ...allocatableOf(capacity, settings.reserved),
    ...given.allocatable,
    ...(isAdopted && settings.capacity),
  }
  const info = Object.fromEntries(Object.entries(given.nodeInfo ?? {}).filter(([, text]) => text !== ''))
  const images = settings.images && reportedImages(settings.images)
  const id = `00000000-0000-4000-8000-${index.toString().padStart(12, '0')}`
  const { conditions, events } = nodeConditions(health, { ...before, capacity }, nowMs)
  const status = {
    capacity,
    allocatable,
    conditions,
    addresses: reportedAddresses(given.addresses ?? [], settings.addresses ?? nodeAddresses({ index, families }), settings.name),
    daemonEndpoints: { kubeletEndpoint: { Port: given.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPort } },
    ...(images && { images }),
    nodeInfo: {
      ...{ machineID: id.replaceAll('-', ''), systemUUID: id, bootID: id },
      kernelVersion: '6.1.0-simulated',
      osImage: 'orch simulated node',
      kubeletVersion: version,
      kubeProxyVersion: level < 33 ? version : '',
      operatingSystem: 'linux',
      architecture: 'amd64',
      ...info,
      // The annotation of simulated nodes.
      containerRuntimeVersion: simulatedRuntime,
    },
  }
  return { status, events }
}

/** The status of the API after a report. */
export function withReport(before: Node['status'], own: Node['status']): Node['status'] {
  const reported = new Set(own.conditions?.map(({ type }) => type))
  return {
    ...before,
    ...own,
    capacity: { ...before.capacity, ...own.capacity },
    allocatable: { ...before.allocatable, ...own.allocatable },
    conditions: [...(before.conditions ?? []).filter(({ type }) => !reported.has(type)), ...(own.conditions ?? [])],
  }
}

/** The Lease of a node's heartbeat. */
export function nodeLease({ settings: { name }, names }: NodeIdentity, { metadata: { uid = '' } }: ApiObject, nowMs: number): ApiObject {
  return {
    apiVersion: `${domainGroup(names, 'coordination')}/v1`,
    kind: 'Lease',
    metadata: { name, namespace: names.nodeLeaseNamespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: printMicroTime(toInstant(nowMs)) },
  }
}

/** Plugins whose volumes are migrated to CSI drivers at a level. */
const migrated = ['aws-ebs', 'azure-disk', 'azure-file', 'cinder', 'gce-pd', 'portworx-volume', 'vsphere-volume']
/** The first level that migrates Portworx. */
const portworxSince = 31

/** The CSINode with the drivers of a node (NODE-VOL-08). */
export function csiNode(
  { settings: { name, zone, volumesMax }, names, level }: NodeIdentity,
  { metadata: { uid = '' } }: ApiObject,
): ApiObject {
  const plugins = migrated.filter((one) => one !== 'portworx-volume' || level >= portworxSince).map((one) => domainLabel(names, one))
  const driver = {
    ...{ name: names.simulatedDriver, nodeID: name },
    topologyKeys: zone === undefined ? null : [subdomainLabel(names, 'topology', 'zone')],
    ...(volumesMax !== undefined && { allocatable: { count: volumesMax } }),
  }
  return {
    ...{ apiVersion: `${domainGroup(names, 'storage')}/v1`, kind: 'CSINode' },
    metadata: {
      name,
      annotations: { [subdomainLabel(names, 'storage.alpha', 'migrated-plugins')]: plugins.join(',') },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    ...{ spec: { drivers: [driver] } },
  }
}
