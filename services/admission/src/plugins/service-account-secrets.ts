import type { Container, Pod } from './pod.ts'

/** A reference from a pod to a Secret. */
export interface SecretReference {
  readonly secret: string
  /** The path for a message. */
  readonly where: string
  readonly isForImages: boolean
}

/** All references from a pod to Secrets. */
export function secretReferences({ spec }: Pod): SecretReference[] {
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

function containerReferences(
  { name: container, env = [], envFrom = [] }: Pick<Container, 'name' | 'env' | 'envFrom'>,
  kind: string,
): SecretReference[] {
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
