import { subdomainLabel } from '@orch/core/names'
import { sharedPart } from '@orch/core/schema'
import { allowed, type Plugin, type PluginNeeds } from '../plugin.ts'
import { admissionRuleFor } from './objects.ts'
import { podOf, type Toleration } from './pod.ts'

/** DefaultTolerationSeconds: the time that a Pod stays on a Node that is not ready or unreachable, unless the Pod sets it. */
export function defaultTolerationSeconds({ catalogue: { names }, settings }: PluginNeeds): Plugin {
  const wanted: readonly Toleration[] = [
    toleration(subdomainLabel(names, 'node', 'not-ready'), settings.notReadyTolerationSeconds),
    toleration(subdomainLabel(names, 'node', 'unreachable'), settings.unreachableTolerationSeconds),
  ]
  return {
    admissionRules: [admissionRuleFor('mutate', ['CREATE', 'UPDATE'], '', ['pods'])],
    mutate(attributes) {
      const pod = podOf(attributes)
      const given = pod.spec.tolerations ?? []
      const tolerated = given.filter(({ effect = '' }) => effect === 'NoExecute' || effect === '').map(({ key = '' }) => key)
      const missing = tolerated.includes('') ? [] : wanted.filter(({ key = '' }) => !tolerated.includes(key))
      return missing.length === 0
        ? allowed
        : { kind: 'allowed', object: { ...pod, spec: { ...pod.spec, tolerations: [...given, ...missing] } } }
    },
  }
}

function toleration(key: string, tolerationSeconds: number): Toleration {
  return sharedPart('core/v1.Toleration', { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds })
}
