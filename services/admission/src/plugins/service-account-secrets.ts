import type { ApiObject } from '@orch/core/meta'

/** The parts of a container that concern its account. */
export interface ContainerWithSecrets {
  readonly name?: string
  readonly env?: readonly { readonly name?: string; readonly valueFrom?: { readonly secretKeyRef?: { readonly name?: string } } }[]
  readonly envFrom?: readonly { readonly secretRef?: { readonly name?: string } }[]
  readonly volumeMounts?: readonly { readonly mountPath?: string; readonly [field: string]: unknown }[]
}

/** The parts of a Pod that concern its account. */
export interface PodWithAccount extends ApiObject {
  readonly spec?: PodSpec
}

export interface PodSpec {
  readonly serviceAccountName?: string
  readonly automountServiceAccountToken?: boolean
  readonly imagePullSecrets?: readonly { readonly name?: string }[]
  /** Null where none are given: plugins are asked before the object is validated. */
  readonly containers?: readonly ContainerWithSecrets[] | null
  readonly initContainers?: readonly ContainerWithSecrets[]
  readonly ephemeralContainers?: readonly ContainerWithSecrets[]
  readonly volumes?: readonly {
    readonly name?: string
    readonly secret?: { readonly secretName?: string }
    readonly projected?: { readonly sources?: readonly { readonly serviceAccountToken?: unknown }[] }
    readonly [field: string]: unknown
  }[]
  readonly [field: string]: unknown
}

/** One place where a pod names a Secret. */
export interface SecretReference {
  readonly secret: string
  /** For a message. */
  readonly where: string
  readonly isForImages: boolean
}

/** All Secrets that a pod names. */
export function secretReferences({ spec = {} }: PodWithAccount): SecretReference[] {
  const volumes = (spec.volumes ?? []).flatMap(({ secret }) =>
    secret == null ? [] : [reference(secret.secretName, (name) => `volume with secret.secretName=${name}`)],
  )
  const forImages = (spec.imagePullSecrets ?? []).map(({ name }, index) => ({
    ...reference(name, (text) => `imagePullSecrets[${index}].name=${text}`),
    isForImages: true,
  }))
  return [
    ...volumes,
    ...(spec.initContainers ?? []).flatMap((container) => containerReferences(container, 'init container')),
    ...(spec.containers ?? []).flatMap((container) => containerReferences(container, 'container')),
    ...(spec.ephemeralContainers ?? []).flatMap((container) => containerReferences(container, 'ephemeral container')),
    ...forImages,
  ]
}

function containerReferences({ name: container, env = [], envFrom = [] }: ContainerWithSecrets, kind: string): SecretReference[] {
  const single = env.flatMap(({ name: variable, valueFrom }) => {
    const secret = valueFrom?.secretKeyRef
    if (secret == null) return []
    return [reference(secret.name, (text) => `${kind} ${container} with envVar ${variable} referencing secret.secretName=${text}`)]
  })
  const whole = envFrom.flatMap(({ secretRef }) => {
    if (secretRef == null) return []
    return [reference(secretRef.name, (text) => `${kind} ${container} with envFrom referencing secret.secretName=${text}`)]
  })
  return [...single, ...whole]
}

function reference(secret = '', where: (quoted: string) => string): SecretReference {
  return { secret, where: where(JSON.stringify(secret)), isForImages: false }
}
