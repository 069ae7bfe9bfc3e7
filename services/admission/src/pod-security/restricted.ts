import { capabilitiesBeyond, findSeccompProfiles } from './baseline.ts'
import type { PodView } from './pod.ts'
import { containersNamed, containersWhere, plural, quoted, settersOf, sorted, type Violation } from './words.ts'

/** Volume types that only use objects of the cluster. */
const harmlessSources = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const

const otherSources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
  'photonPersistentDisk',
] as const

export function findPrivilegeEscalation({ spec }: PodView): Violation | undefined {
  const bad = containersWhere(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (bad.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersNamed(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

/** All capabilities are dropped; one may be added. */
export function findUnrestrictedCapabilities({ spec }: PodView): Violation | undefined {
  const keeping = containersWhere(spec, ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'))
  const adding = capabilitiesBeyond(spec, (capability) => capability === 'NET_BIND_SERVICE')
  const details = [
    ...(keeping.length > 0 ? [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding === undefined ? [] : [adding]),
  ]
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

export function findVolumeTypes({ spec }: PodView): Violation | undefined {
  const bad = (spec.volumes ?? []).filter((volume) => harmlessSources.every((source) => volume[source] === undefined))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map((volume) => otherSources.find((source) => volume[source] !== undefined) ?? 'unknown'))
  const volumes = `${plural(bad, 'volume', 'volumes')} ${quoted(bad.map(({ name }) => name))}`
  const use = `${plural(bad, 'uses', 'use')} ${plural(types, 'restricted volume type', 'restricted volume types')}`
  return { reason: 'restricted volume types', detail: `${volumes} ${use} ${quoted(types)}` }
}

export function findRoot({ spec }: PodView): Violation | undefined {
  const reason = 'runAsNonRoot != true'
  const setters = settersOf(spec, ({ runAsNonRoot }) => runAsNonRoot === false)
  if (setters !== undefined) return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` }
  if (spec.securityContext?.runAsNonRoot === true) return undefined
  const silent = containersWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true` }
}

export function findRootUser({ spec }: PodView): Violation | undefined {
  const setters = settersOf(spec, ({ runAsUser }) => runAsUser === 0)
  return setters === undefined ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` }
}

/** A profile is required, and must be an allowed one. */
export function findMissingSeccompProfiles(pod: PodView): Violation | undefined {
  const { spec } = pod
  const wrong = findSeccompProfiles(pod)
  if (wrong !== undefined) return wrong
  if (spec.securityContext?.seccompProfile !== undefined) return undefined
  const silent = containersWhere(spec, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  if (silent.length === 0) return undefined
  const must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
  return { reason: 'seccompProfile', detail: `pod or ${containersNamed(silent)} ${must}` }
}
