import type { ApiObject } from '@orch/core/meta'
import type { Names } from './names.ts'
import type { Scenario } from './scenario.ts'

type Members = Readonly<Record<string, unknown>>

interface Condition extends Members {
  readonly type: string
  readonly status: string
}

const usualKinds = [
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'DaemonSet',
  'ControllerRevision',
  'Job',
  'CronJob',
  'Pod',
  'PodDisruptionBudget',
  'HorizontalPodAutoscaler',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'VolumeAttachment',
]

/** Conditions that a kubelet writes for every Pod. */
const usualConditions: ReadonlySet<string> = new Set([
  'Ready',
  'PodScheduled',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
])

const comparedSpec = [
  'replicas',
  'paused',
  'suspend',
  'parallelism',
  'completions',
  'minReadySeconds',
  'completionMode',
  'backoffLimit',
  'manualSelector',
]

/** The compared objects in normal form, by `KIND/NAME`. */
export function viewOf(objects: Iterable<ApiObject>, names: Names, scenario: Scenario): Record<string, unknown> {
  const kinds = scenario.view ?? [...usualKinds, ...(scenario.group === 'WL-EP' ? ['Endpoints', 'EndpointSlice'] : [])]
  const view: Record<string, unknown> = {}
  for (const object of objects) {
    const { kind = '', metadata } = object
    if (kinds.includes(kind)) view[`${kind}/${names.of(kind, metadata.name ?? '')}`] = plain(viewOfObject(object, names, scenario))
  }
  return view
}

/** Removes undefined members. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function viewOfObject(object: ApiObject, names: Names, scenario: Scenario): Members {
  const { kind = '', metadata } = object
  const { labels = {}, annotations = {}, ownerReferences, finalizers, deletionTimestamp, generation } = metadata
  const isShown = (label: string) => !(kind === 'Pod' && label === 'topology.kubernetes.io/zone')
  const isKept = (annotation: string) => annotation !== 'endpoints.kubernetes.io/last-change-trigger-time'
  const hasGeneration = kind !== 'Pod' && kind !== 'EndpointSlice' && !(kind === 'ReplicaSet' && ownerReferences !== undefined)
  return {
    ...shownMap('labels', labels, isShown, names),
    ...shownMap('annotations', annotations, isKept, names),
    owners: ownerReferences?.map(
      ({ kind: of, name, controller, blockOwnerDeletion }) =>
        `${of}/${names.of(of, name)}${controller === true ? ' controller' : ''}${blockOwnerDeletion === true ? ' block' : ''}`,
    ),
    finalizers,
    terminating: deletionTimestamp == null ? undefined : true,
    generation: hasGeneration ? generation : undefined,
    ...viewOfContent(object, names, scenario),
  }
}

function shownMap(member: string, map: Readonly<Record<string, string>>, isShown: (name: string) => boolean, names: Names): Members {
  const shown = Object.entries(map).filter(([name]) => isShown(name))
  return shown.length === 0 ? {} : { [member]: names.value(Object.fromEntries(shown)) }
}

function viewOfContent(object: ApiObject, names: Names, scenario: Scenario): Members {
  const { kind, metadata } = object
  const [spec, status] = [object['spec'], object['status']]
  switch (kind) {
    case 'Pod':
      return viewOfPod(object, names, scenario)
    case 'ControllerRevision':
      return { revision: object['revision'], ...(scenario.revData === true && { data: names.value(object['data']) }) }
    case 'EndpointSlice':
      return {
        addressType: object['addressType'],
        ports: names.value(object['ports']),
        endpoints: sortedBy(listIn(object['endpoints']), ({ addresses }) => String(listOfTexts(addresses)[0])).map((one) =>
          names.value(one),
        ),
      }
    case 'Endpoints': {
      const subsets = object['subsets']
      return subsets === undefined ? {} : { subsets: sortedBy(listIn(names.value(subsets)), (subset) => JSON.stringify(subset)) }
    }
    case 'PersistentVolumeClaim':
    case 'PersistentVolume':
      return { spec: names.value(spec), status: names.value(status) }
    default:
      return viewOfWorkload({ kind: kind ?? '', isOwned: metadata.ownerReferences !== undefined, spec, status }, names)
  }
}

interface Workload {
  readonly kind: string
  readonly isOwned: boolean
  readonly spec: unknown
  readonly status: unknown
}

function viewOfWorkload({ kind, isOwned, spec, status }: Workload, names: Names): Members {
  const members = (spec ?? {}) as Members & { readonly template?: { readonly metadata?: { readonly labels?: unknown } } }
  const shown = {
    ...Object.fromEntries(comparedSpec.filter((name) => members[name] !== undefined).map((name) => [name, members[name]])),
    ...(((kind === 'ReplicaSet' && isOwned) || kind === 'Job') && { selector: names.value(members['selector']) }),
    ...(kind === 'Job' && isOwned && { template: { labels: names.value(members.template?.metadata?.labels) } }),
    ...(kind === 'ReplicaSet' && isOwned && { templateLabels: names.value(members.template?.metadata?.labels) }),
  }
  const found = (names.value(status ?? {}) ?? {}) as Members & { readonly conditions?: readonly Members[] }
  const conditions = found.conditions?.map(({ lastTransitionTime: _t, lastUpdateTime: _u, lastProbeTime: _p, ...rest }) => rest)
  return {
    ...(Object.keys(shown).length > 0 && kind !== 'HorizontalPodAutoscaler' && { spec: shown }),
    status: { ...found, ...(conditions !== undefined && { conditions }) },
  }
}

interface PodSpec extends Members {
  readonly containers: readonly { readonly image?: string; readonly env?: unknown }[]
  readonly volumes?: readonly { readonly name: string; readonly persistentVolumeClaim?: { readonly claimName: string } }[]
  readonly tolerations?: readonly { readonly tolerationSeconds?: number }[]
}

interface PodStatus extends Members {
  readonly conditions?: readonly Condition[]
}

function viewOfPod(pod: ApiObject, names: Names, scenario: Scenario): Members {
  const [spec, status] = [pod['spec'] as PodSpec, (pod['status'] ?? {}) as PodStatus]
  const { hostname, subdomain, activeDeadlineSeconds, restartPolicy, nodeName, affinity } = spec
  const claims = (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : [`${name}=${persistentVolumeClaim.claimName}`],
  )
  const conditions = (status.conditions ?? []).filter(({ type }) => !usualConditions.has(type))
  const tolerations = (spec.tolerations ?? []).filter(({ tolerationSeconds }) => tolerationSeconds === undefined)
  return {
    phase: status['phase'],
    ready: status.conditions?.find(({ type }) => type === 'Ready')?.status,
    node: nodeName === undefined ? undefined : names.text(String(nodeName)),
    ...(names.value({ hostname, subdomain, activeDeadlineSeconds }) as object),
    restartPolicy: restartPolicy === 'Always' ? undefined : restartPolicy,
    image: spec.containers[0]?.image,
    env: names.value(spec.containers[0]?.env),
    claims: claims.length === 0 ? undefined : claims.sort(),
    conditions: conditions.length === 0 ? undefined : names.value(conditions),
    reason: status['reason'] === '' ? undefined : status['reason'],
    affinity: scenario.affinity === true ? names.value(affinity) : undefined,
    tolerations: tolerations.length === 0 ? undefined : tolerations,
  }
}

interface Event extends ApiObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly series?: { readonly count?: number }
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
  readonly involvedObject: { readonly kind: string; readonly name: string }
}

/** Events as `COUNTx TYPE | REASON | SOURCE | KIND/NAME | MESSAGE`; counts of equal events are added. */
export function eventsOf(objects: Iterable<ApiObject>, names: Names, { group, countless = false }: Scenario): string[] {
  const counts = new Map<string, number>()
  for (const object of objects) {
    if (object.kind !== 'Event') continue
    // The kind tells which type the object has.
    const { type, reason, message = '', count = 1, series, source, reportingComponent = '', involvedObject } = object as Event
    const component = source?.component ?? reportingComponent
    if (!isCompared(component, involvedObject.kind, group)) continue
    const text = names.text(message.replace('(combined from similar events): ', ''))
    const about = `${involvedObject.kind}/${names.of(involvedObject.kind, involvedObject.name)}`
    const line = [type, reason, component, about, text].join(' | ')
    counts.set(line, (counts.get(line) ?? 0) + (series?.count ?? count))
  }
  const isCountless = (line: string) => group === 'WL-PV' || (countless && /Failed|Warning/.test(line))
  return [...counts.keys()].sort().map((line) => `${isCountless(line) ? 'N' : counts.get(line)}x ${line}`)
}

function isCompared(component: string, kind: string, group: string): boolean {
  if (/scheduler|cidrAllocator|ipallocator/.test(component)) return false
  if (kind === 'Node' && group !== 'WL-NODE') return false
  return !/persistentvolume/.test(component) || group === 'WL-PV'
}

function sortedBy(list: readonly Members[], textOf: (one: Members) => string): Members[] {
  return list.toSorted((left, right) => (textOf(left) < textOf(right) ? -1 : 1))
}

function listIn(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value : []
}

function listOfTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
