import type { ApiObject } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

interface PodSpec {
  readonly nodeName?: string
  readonly terminationGracePeriodSeconds?: number
  readonly containers?: readonly { readonly resources?: Resources }[]
  readonly initContainers?: readonly { readonly resources?: Resources }[]
}

interface Resources {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

/** Pods wait for their node to stop them before they go. */
export const podStrategy: KindRules = {
  prepareCreate(object) {
    object.status = { phase: 'Pending', qosClass: qosClassOf(object) }
  },
  graceSeconds(object, asked) {
    const spec = object.spec as PodSpec | undefined
    const { phase } = (object.status ?? {}) as { phase?: string }
    if (!spec?.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
    const seconds = asked ?? spec.terminationGracePeriodSeconds ?? 30
    return seconds < 0 ? 1 : seconds
  },
}

const classResources: readonly string[] = ['cpu', 'memory']

/** Guaranteed: limits for everything and requests equal to them. BestEffort: neither. Burstable: the rest. */
function qosClassOf(pod: ApiObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const spec = (pod.spec ?? {}) as PodSpec
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources ?? {})
  const asksForNothing = ({ requests, limits }: Resources) =>
    !classResources.some((name) => isAmount(requests?.[name]) || isAmount(limits?.[name]))
  if (all.every(asksForNothing)) return 'BestEffort'
  const isGuaranteed = ({ requests, limits }: Resources) =>
    classResources.every((name) => isAmount(limits?.[name]) && (requests?.[name] === undefined || requests[name] === limits?.[name]))
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable'
}

function isAmount(text: string | undefined): boolean {
  return text !== undefined && text !== '0'
}
