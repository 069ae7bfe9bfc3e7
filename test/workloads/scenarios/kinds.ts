interface KindAddress {
  readonly groupVersion: string
  readonly plural: string
  readonly isClusterScoped?: boolean
}

const core = 'v1'
const apps = 'apps/v1'
const kinds: Readonly<Record<string, KindAddress>> = {
  ConfigMap: { groupVersion: core, plural: 'configmaps' },
  Endpoints: { groupVersion: core, plural: 'endpoints' },
  Namespace: { groupVersion: core, plural: 'namespaces', isClusterScoped: true },
  Node: { groupVersion: core, plural: 'nodes', isClusterScoped: true },
  PersistentVolume: { groupVersion: core, plural: 'persistentvolumes', isClusterScoped: true },
  PersistentVolumeClaim: { groupVersion: core, plural: 'persistentvolumeclaims' },
  Pod: { groupVersion: core, plural: 'pods' },
  ReplicationController: { groupVersion: core, plural: 'replicationcontrollers' },
  ResourceQuota: { groupVersion: core, plural: 'resourcequotas' },
  Service: { groupVersion: core, plural: 'services' },
  ControllerRevision: { groupVersion: apps, plural: 'controllerrevisions' },
  DaemonSet: { groupVersion: apps, plural: 'daemonsets' },
  Deployment: { groupVersion: apps, plural: 'deployments' },
  ReplicaSet: { groupVersion: apps, plural: 'replicasets' },
  StatefulSet: { groupVersion: apps, plural: 'statefulsets' },
  CronJob: { groupVersion: 'batch/v1', plural: 'cronjobs' },
  Job: { groupVersion: 'batch/v1', plural: 'jobs' },
  EndpointSlice: { groupVersion: 'discovery.k8s.io/v1', plural: 'endpointslices' },
  HorizontalPodAutoscaler: { groupVersion: 'autoscaling/v2', plural: 'horizontalpodautoscalers' },
  PodDisruptionBudget: { groupVersion: 'policy/v1', plural: 'poddisruptionbudgets' },
  CSIDriver: { groupVersion: 'storage.k8s.io/v1', plural: 'csidrivers', isClusterScoped: true },
  StorageClass: { groupVersion: 'storage.k8s.io/v1', plural: 'storageclasses', isClusterScoped: true },
  VolumeAttachment: { groupVersion: 'storage.k8s.io/v1', plural: 'volumeattachments', isClusterScoped: true },
}

export function addressOf(kind: string): KindAddress {
  const address = kinds[kind]
  if (address === undefined) throw new Error(`the player of scenarios has no path for the kind ${kind}: add it to kinds.ts`)
  return address
}

interface ObjectPath {
  readonly namespace: string
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

export function pathOf(kind: string, { namespace, name, subresource }: ObjectPath): string {
  const { groupVersion, plural, isClusterScoped = false } = addressOf(kind)
  const root = groupVersion === core ? '/api/v1' : `/apis/${groupVersion}`
  const parts = [root, ...(isClusterScoped ? [] : ['namespaces', namespace]), plural, name, subresource]
  return parts.filter((part) => part !== undefined).join('/')
}
