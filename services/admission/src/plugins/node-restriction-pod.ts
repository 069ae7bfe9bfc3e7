import type { Container, Pod, PodSpec } from './pod.ts'

type Volume = NonNullable<PodSpec['volumes']>[number]

/** True if a Pod uses a Secret. */
export function usesSecrets({ spec }: Pod): boolean {
  if ((spec.imagePullSecrets ?? []).length > 0) return true
  const isInContainers = containersOf(spec).some(({ env = [], envFrom = [] }) => {
    return env.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined) || envFrom.some(({ secretRef }) => secretRef !== undefined)
  })
  return isInContainers || (spec.volumes ?? []).some(isOfSecret)
}

/** Azure files always have a Secret; other volumes name their Secret. */
function isOfSecret(volume: Volume): boolean {
  if (volume.secret !== undefined || volume.azureFile !== undefined || volume.csi?.nodePublishSecretRef !== undefined) return true
  if (volume.projected?.sources?.some(({ secret }) => secret !== undefined)) return true
  return Object.values(volume).some((source) => typeof source === 'object' && source !== null && 'secretRef' in source)
}

/** True if a Pod uses a ConfigMap. */
export function usesConfigMaps({ spec }: Pod): boolean {
  const isInContainers = containersOf(spec).some(({ env = [], envFrom = [] }) => {
    return (
      env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined) ||
      envFrom.some(({ configMapRef }) => configMapRef !== undefined)
    )
  })
  if (isInContainers) return true
  return (spec.volumes ?? []).some(({ configMap, projected }) => {
    return configMap !== undefined || projected?.sources?.some((source) => source.configMap !== undefined)
  })
}

/** True if a Pod claims a volume. */
export function usesClaims({ spec }: Pod): boolean {
  return (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)
}

function containersOf(spec: PodSpec): readonly Pick<Container, 'env' | 'envFrom'>[] {
  const { containers, initContainers, ephemeralContainers } = spec
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])]
}
