import type { Attributes } from '@orch/core/contracts'
import { addQuantities, compareQuantities, parseQuantity, roundUpQuantity, type StatusError, zeroQuantity } from '@orch/core/meta'
import { domainLabel } from '@orch/core/names'
import { podAmounts } from '@orch/core/quota'
import { allowed, denied, forbid, type Plugin, type PluginNeeds } from '../plugin.ts'
import { changedOnNode, type Node, readNode } from './bound-node.ts'
import type { Pod } from './pod.ts'

/** PodResizeValidator: a Pod on a node is resized only within the node's allocatable resources, and only on Linux. */
export function podResizeValidator({ storage, catalogue: { names } }: PluginNeeds): Plugin {
  const system = domainLabel(names, 'os')
  return {
    admissionRules: [{ phase: 'validate', operations: ['UPDATE'], groups: [''], resources: ['pods/resize'], namespaces: [] }],
    async validate(attributes) {
      const change = changedOnNode(attributes)
      if (change === undefined) return allowed
      const name = change.pod.spec.nodeName ?? ''
      const node = await readNode(storage, name)
      if (node === undefined) return denied(forbid(attributes, `node ${JSON.stringify(name)} not found`))
      const os = node.metadata.labels?.[system] ?? 'linux'
      if (os !== 'linux') {
        const why = `pod resize is only supported on linux nodes, node ${JSON.stringify(name)} is ${JSON.stringify(os)}`
        return denied(refused(attributes, why, 'UnsupportedPlatform'))
      }
      const lacking = lackOf(change.pod, node)
      if (lacking.length === 0) return allowed
      return denied(refused(attributes, `node didn't have enough allocatable resources: ${lacking.join('; ')}`, 'NodeCapacity'))
    },
  }
}

function refused(attributes: Attributes, why: string, reason: string): StatusError {
  return forbid(attributes, why, [{ reason }])
}

/** The resources that a node cannot allocate: CPU in thousandths, memory in bytes. */
function lackOf({ spec }: Pod, node: Node): string[] {
  const requests = podAmounts(spec, 'requests')
  return [['cpu', -3] as const, ['memory', 0] as const].flatMap(([name, exponent]) => {
    const overhead = parseQuantity(String(spec.overhead?.[name] ?? '0')) ?? zeroQuantity
    const requested = addQuantities(requests.get(name) ?? zeroQuantity, overhead)
    const allocatable = parseQuantity(String(node.status.allocatable?.[name] ?? '0')) ?? zeroQuantity
    if (compareQuantities(requested, allocatable) <= 0) return []
    return [`${name}, requested: ${roundUpQuantity(requested, exponent)}, allocatable: ${roundUpQuantity(allocatable, exponent)}`]
  })
}
