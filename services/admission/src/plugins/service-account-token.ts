import type { Names } from '@orch/core/names'
import { sharedPart } from '@orch/core/schema'
import type { Container, PodSpec } from './pod.ts'

/** An hour and seven seconds, which marks tokens that were requested in this way. */
const expirationSeconds = 3607
/** The file mode 0644. */
const fileMode = 420

/** A copy of the spec whose members may be set; nested values may not be changed. */
export type MutablePodSpec = { -readonly [K in keyof PodSpec]: PodSpec[K] }

/** Adds a volume to Pods with a token, the server's certificate and the namespace. */
export function tokenMounts(names: Names) {
  const mountPath = `/var/run/secrets/${names.labelDomain}/serviceaccount`
  const volumePrefix = `${names.tokenVolumePrefix}-`
  const projected = tokenSources(names)
  const lacks = ({ volumeMounts }: Container) => volumeMounts === undefined || volumeMounts.every((mount) => mount.mountPath !== mountPath)
  return {
    /** Adds the volume, and mounts in containers. Existing mounts stay. */
    mount(spec: MutablePodSpec, makeName: () => string) {
      const { initContainers } = spec
      const volumes = spec.volumes ?? []
      const containers = spec.containers ?? []
      if (!containers.some(lacks) && initContainers?.some(lacks) !== true) return
      const existing = volumes.find(({ name }) => name?.startsWith(volumePrefix))?.name
      const name = existing ?? makeName()
      const withMount = (container: Container): Container =>
        lacks(container)
          ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }] }
          : container
      spec.containers = containers.map(withMount)
      if (initContainers !== undefined) spec.initContainers = initContainers.map(withMount)
      if (existing === undefined) spec.volumes = [...volumes, { name, projected }]
    },
  }
}

/** Equal in every Pod. */
function tokenSources(names: Names) {
  return sharedPart('core/v1.ProjectedVolumeSource', {
    sources: [
      { serviceAccountToken: { expirationSeconds, path: 'token' } },
      { configMap: { name: names.rootCertificateConfigMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: fileMode,
  })
}
