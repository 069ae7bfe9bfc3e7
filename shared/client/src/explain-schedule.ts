import { parseFeatureGates } from '@orch/core/feature-gates'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import {
  type ClusterLists,
  type DeviceTaintRule,
  explainScheduling,
  type Pod,
  type RulesSource,
  type SchedulingExplanation,
  schedulingRules,
  withRuleTaints,
} from '@orch/core/scheduling'
import type { Client } from './client.ts'
import { unlessRefused } from './refusals.ts'

export interface ExplainScheduleOptions {
  readonly names: Names
  readonly namespace: string
  /** Name of the Pod. */
  readonly name: string
  /** The level and the feature gates of the scheduler. Default: the level of the server with its default gates. */
  readonly rules?: Omit<RulesSource, 'names'>
}

/** Computes the placement of a Pod from the server's present objects. No scheduler has to run. Lists that the server does not serve are empty. */
export async function explainSchedule(client: Client, options: ExplainScheduleOptions): Promise<SchedulingExplanation> {
  const { names, namespace, name } = options
  const pods = client.resource<Pod>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const [pod, lists, rules] = await Promise.all([
    pods.get(name, { namespace }),
    readLists(client, names),
    options.rules ?? readRules(client),
  ])
  return explainScheduling(pod, lists, schedulingRules({ names, ...rules }))
}

async function readRules(client: Client): Promise<Omit<RulesSource, 'names'>> {
  const { minor } = await client.request<{ readonly minor: string }>({ method: 'GET', path: '/version' })
  const level = Number.parseInt(minor, 10)
  const gates = parseFeatureGates([], level)
  return { level, isGateOn: gates.kind === 'gates' ? gates.isOn : () => false }
}

async function readLists(client: Client, names: Names): Promise<ClusterLists> {
  const list = async <T extends ApiObject>(group: string, plural: string): Promise<readonly T[]> => {
    const resource = client.resource<T>({ group, version: 'v1', plural, namespaced: true })
    return (await unlessRefused([404], () => resource.listAll()))?.items ?? []
  }
  const storage = domainGroup(names, 'storage')
  const [nodes, pods, namespaces, services, replicationControllers, replicaSets, statefulSets] = await Promise.all([
    list<ClusterLists['nodes'][number]>('', 'nodes'),
    list<Pod>('', 'pods'),
    list<ApiObject>('', 'namespaces'),
    list<ApiObject>('', 'services'),
    list<ApiObject>('', 'replicationcontrollers'),
    list<ApiObject>('apps', 'replicasets'),
    list<ApiObject>('apps', 'statefulsets'),
  ])
  const [budgets, claims, volumes, storageClasses, csiNodes, csiDrivers, capacities, attachments] = await Promise.all([
    list<ClusterLists['budgets'][number]>('policy', 'poddisruptionbudgets'),
    list<ClusterLists['claims'][number]>('', 'persistentvolumeclaims'),
    list<ClusterLists['volumes'][number]>('', 'persistentvolumes'),
    list<ClusterLists['storageClasses'][number]>(storage, 'storageclasses'),
    list<ClusterLists['csiNodes'][number]>(storage, 'csinodes'),
    list<ClusterLists['csiDrivers'][number]>(storage, 'csidrivers'),
    list<ClusterLists['capacities'][number]>(storage, 'csistoragecapacities'),
    list<ClusterLists['attachments'][number]>(storage, 'volumeattachments'),
  ])
  const devices = domainGroup(names, 'resource')
  const [resourceClaims, deviceClasses, slices, taintRules] = await Promise.all([
    list<ClusterLists['resourceClaims'][number]>(devices, 'resourceclaims'),
    list<ClusterLists['deviceClasses'][number]>(devices, 'deviceclasses'),
    list<ClusterLists['deviceSlices'][number]>(devices, 'resourceslices'),
    list<DeviceTaintRule>(devices, 'devicetaintrules'),
  ])
  const deviceSlices = withRuleTaints(slices, taintRules)
  const workloads = { services, replicationControllers, replicaSets, statefulSets }
  const ofStorage = { claims, volumes, storageClasses, csiNodes, csiDrivers, capacities, attachments }
  return { nodes, pods, namespaces, ...workloads, budgets, ...ofStorage, resourceClaims, deviceClasses, deviceSlices }
}
