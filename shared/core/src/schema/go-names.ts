import { plainNameOf } from '../description/levels.ts'
import type { Field, StructNode } from '../description/node.ts'

/** Words that Go writes in capitals at the start of a field name. */
const initials: ReadonlySet<string> = new Set([
  ...['api', 'aws', 'ca', 'cidr', 'csi', 'dns', 'fc', 'fs', 'gce', 'gmsa', 'grpc', 'http', 'id', 'ip', 'iscsi', 'nfs', 'os', 'pd', 'pkix'],
  ...['gid', 'iqn', 'json', 'qos', 'rbd', 'ssl', 'tcp', 'tls', 'ttl', 'tty', 'uid', 'url'],
])

/** Fields whose Go names cannot be derived from their JSON names. */
const otherNames: Readonly<Record<string, string>> = {
  cel: 'CEL',
  cephfs: 'CephFS',
  chapAuthDiscovery: 'DiscoveryCHAPAuth',
  chapAuthSession: 'SessionCHAPAuth',
  cidrs: 'CIDRs',
  lastState: 'LastTerminationState',
  metadata: 'ObjectMeta',
  pdID: 'PdID',
  seLinuxChangePolicy: 'SELinuxChangePolicy',
  seLinuxMount: 'SELinuxMount',
  seLinuxOptions: 'SELinuxOptions',
  storageos: 'StorageOS',
  wwids: 'WWIDs',
}

/** The Go name of a field: `hostIP` is HostIP, `dnsPolicy` is DNSPolicy. */
export function goFieldName({ name }: Pick<Field, 'name'>): string {
  const other = otherNames[name]
  if (other !== undefined) return other
  const [word = ''] = /^[a-z0-9]+/.exec(name) ?? []
  const first = initials.has(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)
  return first + name.slice(word.length)
}

/**
 * kube-apiserver's validation uses internal types. They equal the versioned types except for the following, whose fields are in
 * another order, some of them in another struct.
 */
const otherFields: Readonly<Record<string, readonly string[]>> = {
  'core/v1.PodSpec': [
    ...['volumes', 'initContainers', 'containers', 'ephemeralContainers', 'restartPolicy', 'terminationGracePeriodSeconds'],
    ...['activeDeadlineSeconds', 'dnsPolicy', 'nodeSelector', 'serviceAccountName', 'automountServiceAccountToken', 'nodeName'],
    ...['securityContext', 'imagePullSecrets', 'hostname', 'subdomain', 'setHostnameAsFQDN', 'affinity', 'schedulerName'],
    ...['tolerations', 'hostAliases', 'priorityClassName', 'priority', 'preemptionPolicy', 'dnsConfig', 'readinessGates'],
    ...['runtimeClassName', 'overhead', 'enableServiceLinks', 'topologySpreadConstraints', 'os'],
  ],
}

/** Fields that are pointers only in the versioned type. */
const plainFields: ReadonlySet<string> = new Set([
  ...['DeploymentSpec.replicas', 'ReplicaSetSpec.replicas', 'StatefulSetSpec.replicas'].map((field) => `apps/v1.${field}`),
  ...['RollingUpdateDaemonSet', 'RollingUpdateDeployment'].flatMap((type) =>
    ['maxSurge', 'maxUnavailable'].map((field) => `apps/v1.${type}.${field}`),
  ),
  'apps/v1.RollingUpdateStatefulSetStrategy.partition',
  'flowcontrol/v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares',
])

export function internalFields(type: string | undefined, { fields, hasTypeMeta }: StructNode): readonly Field[] {
  const names = type === undefined ? undefined : otherFields[plainNameOf(type)]
  if (names === undefined) return hasTypeMeta ? fields.filter(({ name }) => name !== 'kind' && name !== 'apiVersion') : fields
  return names.flatMap((name) => fields.find((field) => field.name === name) ?? [])
}

/** True if a field is a pointer in the internal type. */
export function isPointer(type: string | undefined, { name, pointer = false }: Pick<Field, 'name' | 'pointer'>): boolean {
  return pointer && !plainFields.has(`${plainNameOf(type ?? '')}.${name}`)
}
