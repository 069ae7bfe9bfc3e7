import { jsonEqual } from '../../json/equal.ts'
import type { ResourceClaim } from '../../workloads/device-claims.ts'
import { allocatedDevice, type Chosen } from './allocate.ts'
import type { Allocation, DeviceRules } from './objects.ts'

type Config = NonNullable<NonNullable<Allocation['devices']>['config']>[number]
type NodeSelector = NonNullable<Allocation['nodeSelector']>
type Requirements = NonNullable<NonNullable<NodeSelector['nodeSelectorTerms']>[number]['matchFields']>

/** A claim's allocation: its devices, their configuration, and a selector for nodes that can use them. */
export function allocationOf(
  claim: ResourceClaim,
  chosen: readonly Chosen[],
  { node, rules, newShareId }: { readonly node: string; readonly rules: DeviceRules; readonly newShareId: () => string },
): Allocation {
  const config = configOf(claim, chosen)
  const nodeSelector = nodesOf(chosen, node)
  const results = chosen.map((one) => allocatedDevice(one, rules, newShareId))
  return { devices: { results, ...(config.length > 0 && { config }) }, ...(nodeSelector && { nodeSelector }) }
}

/** The configuration of classes, each once, then that of the claim. Configuration for all requests names none. */
function configOf({ spec }: ResourceClaim, chosen: readonly Chosen[]): Config[] {
  const requests = spec?.devices?.requests ?? []
  const asks = requests.flatMap(({ name }) => chosen.find(({ ask }) => ask.base === name)?.ask ?? [])
  const classes = new Map(asks.map(({ deviceClass }) => [deviceClass.metadata.name, deviceClass]))
  const configs: Config[] = []
  for (const [name, { spec: ofClass }] of classes) {
    const names = asks.filter(({ deviceClass }) => deviceClass.metadata.name === name).map((ask) => ask.name)
    for (const one of ofClass?.config ?? []) configs.push({ ...one, source: 'FromClass', requests: names })
  }
  for (const one of spec?.devices?.config ?? []) {
    const { requests: names = [] } = one
    const isUsed = names.length === 0 || asks.some((ask) => names.includes(ask.base) || names.includes(ask.name))
    if (isUsed) configs.push({ ...one, source: 'FromClaim', requests: names })
  }
  return configs.map(({ requests: names = [], ...rest }) => {
    const isForAll = requests.every(({ name }) => names.includes(name) || asks.some((ask) => ask.base === name && names.includes(ask.name)))
    return isForAll || names.length === 0 ? rest : { ...rest, requests: names }
  })
}

/** Only the node itself if a device is local to it, else the nodes that all devices allow; undefined for every node. */
function nodesOf(chosen: readonly Chosen[], node: string): NodeSelector | undefined {
  const matchFields: Requirements[number][] = []
  const matchExpressions: Requirements[number][] = []
  for (const { device } of chosen) {
    const { nodeName, nodeSelector } = device.slice.spec.perDeviceNodeSelection ? device.device : device.slice.spec
    if (nodeName || device.device.bindsToNode === true) {
      return { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }] }
    }
    const [term] = nodeSelector?.nodeSelectorTerms ?? []
    addNew(matchFields, term?.matchFields ?? [])
    addNew(matchExpressions, term?.matchExpressions ?? [])
  }
  if (matchFields.length + matchExpressions.length === 0) return undefined
  return {
    nodeSelectorTerms: [{ ...(matchFields.length > 0 && { matchFields }), ...(matchExpressions.length > 0 && { matchExpressions }) }],
  }
}

function addNew(into: Requirements[number][], more: Requirements): void {
  const printed = (one: Requirements[number]) => ({ ...one, values: [...new Set(one.values)].sort() })
  for (const one of more) if (!into.some((known) => jsonEqual(printed(known), printed(one)))) into.push(one)
}
