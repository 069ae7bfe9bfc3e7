import { createHash } from 'node:crypto'
import type { InformerEvent } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { fnv128a, isReadyPod, type Pod, type Service } from '@orch/core/workloads'
import { keyOf, type Reader } from '../reconciler/index.ts'

/** Below this level, Services of the type ExternalName have endpoints too. */
const externalWithoutSince = 27

/** The hash that orders ports and subsets. */
export function endpointHashAt(level: number): (text: string) => string {
  return level < 35 ? (text) => createHash('md5').update(text).digest('hex') : fnv128a
}

/** True if the endpoints of a Service come from Pods. */
export function selects(service: Service, level: number): boolean {
  return hasSelector(service) && (service.spec.type !== 'ExternalName' || level < externalWithoutSince)
}

export function hasSelector({ spec: { selector } }: Service): boolean {
  return selector != null && Object.keys(selector).length > 0
}

function isSelected({ spec: { selector } }: Service, labels: Readonly<Record<string, string>> | undefined): boolean {
  return Object.entries(selector ?? {}).every(([name, value]) => labels?.[name] === value)
}

/** The Pods that a Service selects. */
export function podsOf(service: Service, pods: Reader<Pod>): Pod[] {
  return [...pods.inNamespace(service.metadata.namespace)].filter(({ metadata }) => isSelected(service, metadata.labels))
}

/** Services whose endpoints an event of a Pod may change: those that select it now or selected it before. */
export function servicesOfPod(event: InformerEvent<Pod>, services: Reader<Service>): string[] {
  const { object: pod } = event
  const before = event.kind === 'updated' ? event.before : pod
  if (event.kind === 'updated' && jsonEqual(factsOf(before), factsOf(pod))) return []
  const found: string[] = []
  for (const service of services.inNamespace(pod.metadata.namespace)) {
    if (hasSelector(service) && [pod, before].some(({ metadata }) => isSelected(service, metadata.labels))) found.push(keyOf(service))
  }
  return found
}

/** The parts of a Pod in its endpoints. */
function factsOf(pod: Pod) {
  const { metadata, spec, status } = pod
  return {
    labels: metadata.labels ?? {},
    isDeleted: metadata.deletionTimestamp != null,
    hostname: spec.hostname ?? '',
    subdomain: spec.subdomain ?? '',
    node: spec.nodeName ?? '',
    phase: status.phase ?? '',
    addresses: (status.podIPs ?? []).map(({ ip = '' }) => ip),
    isReady: isReadyPod(pod),
  }
}
