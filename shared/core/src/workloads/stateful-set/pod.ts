import { toNamePrefix } from '../../meta/validate-names.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Pod } from '../pods.ts'
import { claimsFor } from './claims.ts'
import { revisionLabel, type StatefulSet, type StatefulSetLabels } from './names.ts'

type Volume = NonNullable<Pod['spec']['volumes']>[number]

/** A template with the name of its revision. */
export interface Versioned {
  readonly name: string
  readonly template: BuiltIn<'core/v1.PodTemplateSpec'>
}

export interface IdentityOptions {
  readonly labels: StatefulSetLabels
  /** True if Pods have a label with their ordinal, from 1.28 on. */
  readonly hasIndexLabel: boolean
}

/** A Pod of the template without owner reference. Its name, hostname, labels and claims depend on its ordinal (WL-STS-03 to WL-STS-05). */
export function memberOf(set: StatefulSet, ordinal: number, { name, template }: Versioned, options: IdentityOptions): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  const podName = `${set.metadata.name}-${ordinal}`
  const spec = { ...template.spec, containers: template.spec?.containers ?? [] }
  const volumes = volumesWith(spec.volumes, set, ordinal)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName,
      generateName: toNamePrefix(set.metadata.name ?? ''),
      namespace: set.metadata.namespace,
      labels: { ...labels, ...identity(podName, ordinal, options), [revisionLabel]: name },
      annotations,
      finalizers,
    },
    spec: { ...spec, hostname: podName, subdomain: set.spec.serviceName, ...(volumes.length > 0 && { volumes }) },
    status: {},
  }
}

/** The Pod with the labels and volumes for its ordinal; undefined if it has them (WL-STS-09). */
export function corrected(pod: Pod, set: StatefulSet, ordinal: number, options: IdentityOptions): Pod | undefined {
  const { name = '', labels } = pod.metadata
  const isNamed = labels?.[options.labels.podName] === name
  const isMounted = [...claimsFor(set, ordinal)].every(([volume, claim]) =>
    pod.spec.volumes?.some((one) => one.name === volume && one.persistentVolumeClaim?.claimName === claim.metadata.name),
  )
  if (isNamed && isMounted) return undefined
  const metadata = isNamed ? pod.metadata : { ...pod.metadata, labels: { ...labels, ...identity(name, ordinal, options) } }
  const spec = isMounted ? pod.spec : { ...pod.spec, volumes: volumesWith(pod.spec.volumes, set, ordinal) }
  return { ...pod, metadata, spec }
}

function identity(name: string, ordinal: number, { labels, hasIndexLabel }: IdentityOptions): Readonly<Record<string, string>> {
  return { [labels.podName]: name, ...(hasIndexLabel && { [labels.podIndex]: String(ordinal) }) }
}

/** Claim volumes replace the template's volumes of the same name. */
function volumesWith(volumes: readonly Volume[] | undefined, set: StatefulSet, ordinal: number): Volume[] {
  const claims = claimsFor(set, ordinal)
  const ofClaims = [...claims].map(([name, { metadata }]): Volume => ({ name, persistentVolumeClaim: { claimName: metadata.name ?? '' } }))
  return [...ofClaims, ...(volumes ?? []).filter(({ name }) => !claims.has(name))]
}
