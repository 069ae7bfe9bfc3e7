import type { Attributes } from '@orch/core/contracts'
import { subdomainLabel } from '@orch/core/names'
import { allowed, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { readNodeLabels } from './bound-node.ts'
import { newObject } from './objects.ts'
import { podOf } from './pod.ts'

/** PodTopologyLabels: a Pod gets the zone and the region of its node as labels, at its binding or its creation. */
export function podTopologyLabels({ storage, catalogue: { names, isGateOn } }: PluginNeeds): Plugin {
  const copied = ['region', 'zone'].map((place) => subdomainLabel(names, 'topology', place))
  const isOn = isGateOn('PodTopologyLabelsAdmission')
  const labelled = async (nodeName: string, object: Labelled): Promise<Verdict> => {
    const labels = await readNodeLabels(storage, nodeName, copied)
    if (labels.length === 0) return allowed
    const { metadata } = object
    return {
      kind: 'allowed',
      object: { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...Object.fromEntries(labels) } } },
    }
  }
  return {
    admissionRules: isOn
      ? [{ phase: 'mutate', operations: ['CREATE'], groups: [''], resources: ['pods', 'pods/binding'], namespaces: [] }]
      : [],
    mutate(attributes: Attributes) {
      if (attributes.subresource === 'binding') {
        const binding = newObject('core/v1.Binding', attributes)
        return binding.target.kind === 'Node' ? labelled(binding.target.name ?? '', binding) : allowed
      }
      const pod = podOf(attributes)
      return pod.spec.nodeName ? labelled(pod.spec.nodeName, pod) : allowed
    },
  }
}

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> }
}
