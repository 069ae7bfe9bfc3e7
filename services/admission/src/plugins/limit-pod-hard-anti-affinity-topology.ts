import { domainLabel } from '@orch/core/names'
import { allowed, denied, forbid, type Plugin, type PluginNeeds } from '../plugin.ts'
import { admissionRuleFor } from './objects.ts'
import { podOf } from './pod.ts'

/** LimitPodHardAntiAffinityTopology: required anti-affinity of a Pod may cover its node, but no wider topology. */
export function limitPodHardAntiAffinityTopology({ catalogue: { names } }: PluginNeeds): Plugin {
  const hostname = domainLabel(names, 'hostname')
  return {
    admissionRules: [admissionRuleFor('validate', ['CREATE', 'UPDATE'], '', ['pods'])],
    validate(attributes) {
      const terms = podOf(attributes).spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
      const wider = terms.find(({ topologyKey }) => topologyKey !== hostname)
      if (wider === undefined) return allowed
      const key = wider.topologyKey ?? ''
      const place = 'affinity.PodAntiAffinity.RequiredDuringScheduling'
      return denied(forbid(attributes, `${place} has TopologyKey ${key} but only key ${hostname} is allowed`))
    },
  }
}
