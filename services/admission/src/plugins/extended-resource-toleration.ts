import { jsonEqual } from '@orch/core/json'
import { allowed, type Plugin, type PluginNeeds } from '../plugin.ts'
import { admissionRuleFor } from './objects.ts'
import { type Pod, podOf, type Toleration, withSpec } from './pod.ts'

/** ExtendedResourceToleration: a Pod that requests an extended resource tolerates the Nodes reserved for it. */
export function extendedResourceToleration({ catalogue: { names } }: PluginNeeds): Plugin {
  return {
    admissionRules: [admissionRuleFor('mutate', ['CREATE', 'UPDATE'], '', ['pods'])],
    mutate(attributes) {
      const pod = podOf(attributes)
      const before = pod.spec.tolerations ?? []
      const after = extendedResourcesOf(pod, names.labelDomain).reduce(withToleration, before)
      return jsonEqual(before, after) ? allowed : { kind: 'allowed', object: withSpec(pod, { tolerations: after }) }
    },
  }
}

function extendedResourcesOf({ spec }: Pod, ownDomain: string): string[] {
  const asked = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources?.requests ?? {}),
  )
  return [...new Set(asked)].filter((name) => isExtended(name, ownDomain)).sort()
}

/** Built-in resources have no domain, or the domain of the project. */
function isExtended(name: string, ownDomain: string): boolean {
  const [domain = ''] = name.split('/')
  const isNative = domain === name || domain === ownDomain || domain.endsWith(`.${ownDomain}`)
  return !isNative && !name.startsWith('requests.')
}

function withToleration(tolerations: readonly Toleration[], key: string): readonly Toleration[] {
  const wanted: Toleration = { key, operator: 'Exists', effect: 'NoSchedule' }
  const isSame = (one: Toleration) =>
    one.key === key && one.effect === wanted.effect && one.operator === wanted.operator && (one.value ?? '') === ''
  if (!tolerations.some(isSame)) return [...tolerations, wanted]
  return tolerations.map((one) => (isSame(one) ? wanted : one))
}
