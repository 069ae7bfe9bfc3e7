import type { ApiObject } from '@orch/core/meta'
import { subdomainLabel } from '@orch/core/names'
import { allowed, type Plugin, type PluginNeeds, type Registration } from '../plugin.ts'
import { interestIn } from './objects.ts'

export const taintNodesByCondition: Registration = { isDefault: true, create: createTaintNodes }

interface Taint {
  readonly key: string
  readonly effect: string
}

/** TaintNodesByCondition: no Pod is sent to a new Node before it is known how the Node is. */
function createTaintNodes({ catalogue: { names } }: PluginNeeds): Plugin {
  const notReady: Taint = { key: subdomainLabel(names, 'node', 'not-ready'), effect: 'NoSchedule' }
  return {
    name: 'TaintNodesByCondition',
    interests: [interestIn('mutate', ['CREATE'], '', ['nodes'])],
    mutate({ object }) {
      const node = object as ApiObject & { readonly spec?: { readonly taints?: readonly Taint[] } }
      const taints = node.spec?.taints ?? []
      if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return allowed
      return { kind: 'allowed', object: { ...node, spec: { ...node.spec, taints: [...taints, notReady] } } }
    },
    close: () => {},
  }
}
