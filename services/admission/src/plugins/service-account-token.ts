import type { Names } from '@orch/core'
import type { ContainerWithSecrets, PodWithAccount } from './service-account-secrets.ts'

/** An hour, and seven seconds by which a token made so can be told from others. */
const expirationSeconds = 3607
/** 0644. */
const fileMode = 420

/** The pod with a volume in which its containers find a token, the server's certificate and their namespace. Mounts of their own stay. */
export function withToken(pod: PodWithAccount, names: Names, makeName: () => string): PodWithAccount {
  const { spec = {} } = pod
  const mountPath = `/var/run/secrets/${names.labelDomain}/serviceaccount`
  const lacks = ({ volumeMounts = [] }: ContainerWithSecrets) => volumeMounts.every((mount) => mount.mountPath !== mountPath)
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  if (!containers.some(lacks)) return pod
  const existing = (spec.volumes ?? []).find(({ name }) => name?.startsWith(`${names.tokenVolumePrefix}-`))?.name
  const name = existing ?? makeName()
  const mounted = (container: ContainerWithSecrets): ContainerWithSecrets => {
    if (!lacks(container)) return container
    return { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }] }
  }
  const volumes = existing === undefined ? [...(spec.volumes ?? []), tokenVolume(name, names)] : spec.volumes
  const initContainers = spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(mounted) }
  return {
    ...pod,
    spec: { ...spec, ...initContainers, containers: spec.containers?.map(mounted) ?? [], ...(volumes === undefined ? {} : { volumes }) },
  }
}

function tokenVolume(name: string, names: Names) {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds, path: 'token' } },
        { configMap: { name: names.rootCertificateConfigMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
      ],
      defaultMode: fileMode,
    },
  }
}
