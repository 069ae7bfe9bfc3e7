import type { ObjectMeta } from '@orch/core/meta'

/** What is read of a Pod that a node writes. The gateway has checked its types. */
export interface NodePod {
  readonly metadata: ObjectMeta
  readonly spec?: {
    readonly nodeName?: string
    readonly serviceAccountName?: string
    readonly imagePullSecrets?: readonly unknown[]
    /** Null where none are given. */
    readonly containers?: readonly NodeContainer[] | null
    readonly initContainers?: readonly NodeContainer[]
    readonly ephemeralContainers?: readonly NodeContainer[]
    readonly volumes?: readonly NodeVolume[]
  }
}

interface NodeContainer {
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: object; readonly configMapKeyRef?: object } }[]
  readonly envFrom?: readonly { readonly secretRef?: object; readonly configMapRef?: object }[]
}

type NodeVolume = {
  readonly projected?: { readonly sources?: readonly { readonly secret?: object; readonly configMap?: object }[] }
  readonly csi?: { readonly nodePublishSecretRef?: object }
} & Readonly<Record<string, unknown>>

/** Whether a Pod takes anything from a Secret. */
export function usesSecrets({ spec = {} }: NodePod): boolean {
  if ((spec.imagePullSecrets ?? []).length > 0) return true
  const isInContainers = containersOf(spec).some(({ env = [], envFrom = [] }) => {
    return env.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined) || envFrom.some(({ secretRef }) => secretRef !== undefined)
  })
  return isInContainers || (spec.volumes ?? []).some(isOfSecret)
}

/** Files of Azure always come with a Secret; what else needs one names it. */
function isOfSecret(volume: NodeVolume): boolean {
  if (volume['secret'] !== undefined || volume['azureFile'] !== undefined || volume.csi?.nodePublishSecretRef !== undefined) return true
  if (volume.projected?.sources?.some(({ secret }) => secret !== undefined)) return true
  return Object.values(volume).some((source) => typeof source === 'object' && source !== null && 'secretRef' in source)
}

/** Whether a Pod takes anything from a ConfigMap. */
export function usesConfigMaps({ spec = {} }: NodePod): boolean {
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

/** Whether a Pod claims a volume. */
export function usesClaims({ spec = {} }: NodePod): boolean {
  return (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined)
}

function containersOf(spec: NonNullable<NodePod['spec']>): readonly NodeContainer[] {
  const { containers, initContainers, ephemeralContainers } = spec
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])]
}
