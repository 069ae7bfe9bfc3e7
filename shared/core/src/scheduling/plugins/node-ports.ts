import { type FilterPlugin, type Refusal, skip } from '../plugin.ts'
import type { HostPort } from '../pod-info.ts'

const refused: Refusal = {
  plugin: 'NodePorts',
  isResolvable: true,
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
}

const everywhere = '0.0.0.0'

/** Refuses nodes on which another Pod uses a requested host port (SCHED-33). */
export const nodePorts: FilterPlugin = {
  name: 'NodePorts',
  start({ hostPorts }) {
    if (hostPorts.length === 0) return skip
    const filter = ({ pods }: { readonly pods: ReadonlyMap<string, { readonly hostPorts: readonly HostPort[] }> }) => {
      for (const { hostPorts: used } of pods.values()) {
        for (const port of used) if (hostPorts.some((wanted) => conflicts(wanted, port))) return refused
      }
      return undefined
    }
    return { kind: 'run', run: { filter } }
  },
}

/** True if two host ports conflict: same port and protocol, and the same or all addresses. */
export function conflicts(one: HostPort, other: HostPort): boolean {
  if (one.port !== other.port || one.protocol !== other.protocol) return false
  return one.address === other.address || one.address === everywhere || other.address === everywhere
}
