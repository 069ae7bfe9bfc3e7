import { compareQuantities, parseQuantity } from '@orch/core/meta'
import { isSame } from '@orch/core/validation'
import { allowed, denied, forbid, type Plugin, type PluginNeeds } from '../plugin.ts'
import { changedOnNode, readNode } from './bound-node.ts'
import type { Pod } from './pod.ts'

/** A node feature that some changes of a Pod need, with its first level. */
interface NodeFeature {
  readonly name: string
  readonly since: number
  readonly until?: number
  readonly isNeeded: (before: Pod, after: Pod) => boolean
}

const features: readonly NodeFeature[] = [
  { name: 'GuaranteedQoSPodCPUResize', since: 35, until: 35, isNeeded: changesGuaranteedCpu },
  {
    name: 'InPlacePodLevelResourcesVerticalScaling',
    since: 35,
    isNeeded: (before, after) => !isSame(before.spec.resources, after.spec.resources),
  },
  { name: 'InPlacePodVerticalScalingInitContainers', since: 36, isNeeded: changesInitContainers },
  { name: 'InPlacePodVerticalScalingMemoryBackedVolumes', since: 37, isNeeded: changesMemoryVolumes },
]

/** NodeDeclaredFeatureValidator: a Pod on a node changes only in ways that the node declares to support. */
export function nodeDeclaredFeatureValidator({ storage, catalogue: { isGateOn, level } }: PluginNeeds): Plugin {
  const isOn = isGateOn('NodeDeclaredFeatures')
  const known = features.filter(({ since, until = level }) => since <= level && level <= until)
  return {
    admissionRules: isOn
      ? [{ phase: 'validate', operations: ['UPDATE'], groups: [''], resources: ['pods', 'pods/resize'], namespaces: [] }]
      : [],
    async validate(attributes) {
      const change = changedOnNode(attributes)
      if (change === undefined) return allowed
      const needed = known.filter(({ isNeeded }) => isNeeded(change.before, change.pod))
      if (needed.length === 0) return allowed
      const nodeName = change.pod.spec.nodeName ?? ''
      const node = await readNode(storage, nodeName)
      if (node === undefined) return denied(forbid(attributes, `node ${JSON.stringify(nodeName)} not found`))
      const missing = needed.filter(({ name }) => !(node.status.declaredFeatures ?? []).includes(name)).map(({ name }) => name)
      if (missing.length === 0) return allowed
      const why = `pod update requires features ${missing.join(', ')} which are not available on node ${JSON.stringify(nodeName)}`
      return denied(forbid(attributes, why))
    },
  }
}

function changesGuaranteedCpu(before: Pod, after: Pod): boolean {
  if (before.status.qosClass !== 'Guaranteed') return false
  const cpuOf = (pod: Pod, index: number) => pod.spec.containers?.[index]?.resources?.requests?.['cpu']
  return (before.spec.containers ?? []).some((_, index) => differs(cpuOf(before, index), cpuOf(after, index)))
}

function changesInitContainers(before: Pod, after: Pod): boolean {
  return (before.spec.initContainers ?? []).some(
    ({ restartPolicy, resources }, index) =>
      restartPolicy !== 'Always' && !isSame(resources, after.spec.initContainers?.[index]?.resources),
  )
}

function changesMemoryVolumes(before: Pod, after: Pod): boolean {
  return (before.spec.volumes ?? []).some(({ name, emptyDir: old }, index) => {
    const volume = after.spec.volumes?.[index]
    const isKept = volume?.name === name && volume.emptyDir?.medium === 'Memory'
    return isKept && old?.sizeLimit != null && volume.emptyDir?.sizeLimit != null && differs(old.sizeLimit, volume.emptyDir.sizeLimit)
  })
}

/** True if two written quantities differ; undefined equals absent. */
function differs(left: string | null | undefined, right: string | null | undefined): boolean {
  const [before, after] = [parseQuantity(left ?? '0'), parseQuantity(right ?? '0')]
  return before !== undefined && after !== undefined && compareQuantities(before, after) !== 0
}
