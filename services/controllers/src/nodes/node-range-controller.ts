import { unlessRefused } from '@orch/client'
import { NodeRanges } from '@orch/core/node-lifecycle'
import type { Node } from '@orch/core/workloads'
import { type Controller, done, own, reconciler } from '../reconciler/index.ts'

export interface NodeRangeOptions {
  /** The address ranges of the cluster, at most one of each family, with the prefix length of a node. */
  readonly clusterRanges: readonly { readonly range: string; readonly nodeBits: number }[]
  /** The ranges of Services, which are excluded. Undefined if unknown. */
  readonly serviceRanges: readonly string[] | undefined
}

/** Allocates a range of the cluster's addresses to each node for its Pods. */
export function nodeRangeController({ clusterRanges, serviceRanges = [] }: NodeRangeOptions): Controller {
  return reconciler<Node>('nodeipam', ({ signal }) => {
    const ranges = clusterRanges.map(({ range, nodeBits }) => new NodeRanges(range, nodeBits))
    for (const one of ranges) for (const range of serviceRanges) one.occupy(range)
    const occupy = ({ spec: { podCIDRs = [] } }: Node) => {
      for (const [index, range] of podCIDRs.entries()) ranges[index]?.occupy(range)
    }
    const release = ({ spec: { podCIDRs = [] } }: Node) => {
      for (const [index, range] of podCIDRs.entries()) ranges[index]?.release(range)
    }
    const nodes = own<Node>('v1', 'nodes', {
      isDue: ({ kind, object }) => {
        // Existing ranges of nodes are reserved before the first allocation.
        if (kind === 'deleted') release(object)
        else occupy(object)
        return kind !== 'deleted' && isWithoutRange(object)
      },
    })
    return {
      watches: [nodes],
      component: 'cidrAllocator',
      reconcile: async ({ object: node, world }) => {
        if (!isWithoutRange(node)) return done
        const podCIDRs = ranges.map((one) => one.allocate())
        const given = podCIDRs.filter((range) => range !== undefined)
        const giveBack = () => given.forEach((range, index) => void ranges[index]?.release(range))
        if (given.length < podCIDRs.length) {
          giveBack()
          const { name = '', uid = '' } = node.metadata
          const message = `Node ${name} status is now: CIDRNotAvailable`
          world.record({ apiVersion: 'v1', kind: 'Node', name, uid }, { type: 'Normal', reason: 'CIDRNotAvailable', message })
          throw new Error(`no range of addresses is left for node ${name}`)
        }
        const patch = { metadata: { uid: node.metadata.uid }, spec: { podCIDR: given[0], podCIDRs: given } }
        try {
          const { name = '' } = node.metadata
          // Another client has set a range, or the node is gone: another event follows.
          const refusals = ['NotFound', 'Invalid'] as const
          const written = await unlessRefused(refusals, () => world.collection(nodes).patch(name, patch, { type: 'strategic', signal }))
          if (written === undefined) giveBack()
        } catch (error) {
          giveBack()
          throw error
        }
        return done
      },
    }
  })
}

function isWithoutRange({ metadata, spec: { podCIDRs = [] } }: Node): boolean {
  return podCIDRs.length === 0 && metadata.deletionTimestamp == null
}
