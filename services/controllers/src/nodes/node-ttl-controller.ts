import { unlessGone } from '@orch/client'
import { subdomainLabel } from '@orch/core/names'
import { NodeTtl } from '@orch/core/node-lifecycle'
import type { Node } from '@orch/core/workloads'
import { type Controller, done, own, reconciler } from '../reconciler/index.ts'

/** Annotates each node with the time that its kubelet may cache Secrets and ConfigMaps (WL-NODE-13). */
export const nodeTtlController: Controller = reconciler<Node>('ttl', ({ names, signal }) => {
  const annotation = subdomainLabel(names, 'node.alpha', 'ttl')
  const ttl = new NodeTtl()
  const nodes = own<Node>('v1', 'nodes', {
    isDue: ({ kind, object }) => {
      if (kind === 'added') ttl.add()
      if (kind === 'deleted') ttl.remove()
      return kind !== 'deleted' && object.metadata.annotations?.[annotation] !== String(ttl.seconds)
    },
  })
  return {
    watches: [nodes],
    queue: 'ttlcontroller',
    reconcile: async ({ object: { metadata }, world }) => {
      const seconds = String(ttl.seconds)
      if (metadata.annotations?.[annotation] === seconds) return done
      const patch = { metadata: { annotations: { [annotation]: seconds } } }
      await unlessGone(() => world.collection(nodes).patch(metadata.name ?? '', patch, { type: 'strategic', signal }))
      return done
    },
  }
})
