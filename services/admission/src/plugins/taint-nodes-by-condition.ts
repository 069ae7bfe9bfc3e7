import { subdomainLabel } from '@orch/core/names'
import type { BuiltIn } from '@orch/core/schema'
import { allowed, type Plugin, type PluginNeeds } from '../plugin.ts'
import { admissionRuleFor, newObject } from './objects.ts'

/** TaintNodesByCondition: no Pod is scheduled to a new Node before its condition is known. */
export function taintNodesByCondition({ catalogue: { names } }: PluginNeeds): Plugin {
  const notReady: BuiltIn<'core/v1.Taint'> = { key: subdomainLabel(names, 'node', 'not-ready'), effect: 'NoSchedule' }
  return {
    admissionRules: [admissionRuleFor('mutate', ['CREATE'], '', ['nodes'])],
    mutate(attributes) {
      const node = newObject('core/v1.Node', attributes)
      const taints = node.spec.taints ?? []
      if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return allowed
      return { kind: 'allowed', object: { ...node, spec: { ...node.spec, taints: [...taints, notReady] } } }
    },
  }
}
