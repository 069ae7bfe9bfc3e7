import { nearest } from '@orch/platform'

/** Controllers that `*` includes. */
const usual = [
  'namespace',
  'customresourcedefinition',
  'bootstrap',
  'garbage-collector',
  'clusterrole-aggregation',
  'flow-control',
  'serviceaccount',
  'serviceaccount-token',
  'legacy-serviceaccount-token-cleaner',
  'root-ca-cert-publisher',
  'resourcequota',
  'pvc-protection',
  'pv-protection',
  'vac-protection',
  'storage-version-migrator',
  'leader-election',
  'validatingadmissionpolicy-status',
  'csrapproving',
  'csrsigning',
  'csrcleaner',
] as const

/** Controllers that must be named explicitly, as only a cluster of machines joins nodes by tokens. */
export const namedControllers = ['tokencleaner', 'bootstrapsigner'] as const

/** Controllers of workloads. Not in `*`: without nodes the Pods of workloads stay Pending. */
export const workloadControllers = [
  'replicaset',
  'replicationcontroller',
  'deployment',
  'statefulset',
  'daemonset',
  'job',
  'cronjob',
  'ttl-after-finished',
  'disruption',
  'endpoint',
  'endpointslice',
  'endpointslicemirroring',
  'horizontalpodautoscaling',
  'persistentvolume-binder',
  'persistentvolume-expander',
  'ephemeral-volume',
  'resourceclaim',
] as const

/** Controllers of nodes. Not in `*`: nodes without a kubelet would lose their Pods, and another scheduler may run. */
export const nodeControllers = [
  'scheduler',
  'nodelifecycle',
  'taint-eviction',
  'device-taint-eviction',
  'podgc',
  'nodeipam',
  'ttl',
  'attachdetach',
  'simulated-provisioner',
] as const

/** All controllers, for help and messages. */
export const controllerNames = [...usual, ...namedControllers, ...workloadControllers, ...nodeControllers] as const
export type ControllerName = (typeof controllerNames)[number]

/** Upstream's long names other than the short name with `-controller`. */
const longNames: ReadonlyMap<string, ControllerName> = new Map([
  ['certificatesigningrequest-approving-controller', 'csrapproving'],
  ['certificatesigningrequest-cleaner-controller', 'csrcleaner'],
  ['certificatesigningrequest-signing-controller', 'csrsigning'],
  ['endpoints-controller', 'endpoint'],
  ['endpointslice-mirroring-controller', 'endpointslicemirroring'],
  ['horizontal-pod-autoscaler-controller', 'horizontalpodautoscaling'],
  ['legacy-service-account-token-cleaner', 'legacy-serviceaccount-token-cleaner'],
  ['node-ipam-controller', 'nodeipam'],
  ['node-lifecycle-controller', 'nodelifecycle'],
  ['pod-garbage-collector-controller', 'podgc'],
  ['persistentvolumeclaim-protection-controller', 'pvc-protection'],
  ['persistentvolume-protection-controller', 'pv-protection'],
  ['volumeattributesclass-protection-controller', 'vac-protection'],
  ['persistentvolume-attach-detach-controller', 'attachdetach'],
])

/**
 * The controllers selected by a list of words: `*` selects all except those that must be named, `name` adds a controller, `-name` removes it, `-*` alone
 * selects none, `workloads` adds all controllers of workloads, `nodes` all of nodes; the last word about a name wins. Names may end in `-controller`, as
 * upstream's do since 1.28. An unknown name is an error that suggests the nearest.
 *
 *   ['*', '-namespace'] → all but namespace        ['namespace'] → that one        ['workloads', '-job'] → the others of workloads
 */
export function selectControllers(words: readonly string[]): ControllerName[] {
  const selected = new Set<ControllerName>()
  if (words.includes('*')) for (const name of usual) selected.add(name)
  for (const word of words) {
    if (word === '*' || word === '-*') continue
    for (const name of namesIn(word.replace(/^-/, ''))) {
      if (word.startsWith('-')) selected.delete(name)
      else selected.add(name)
    }
  }
  return controllerNames.filter((name) => selected.has(name))
}

function namesIn(word: string): readonly ControllerName[] {
  if (word === 'workloads') return workloadControllers
  if (word === 'nodes') return nodeControllers
  const found = controllerNames.find((name) => name === word || `${name}-controller` === word) ?? longNames.get(word)
  if (found !== undefined) return [found]
  const near = nearest(word, controllerNames)
  throw new Error(
    `unknown controller ${word}${near === undefined ? '' : `; did you mean ${near}?`} (known: ${controllerNames.join(', ')}, workloads, nodes)`,
  )
}
