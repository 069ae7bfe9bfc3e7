import type { Client } from '@orch/client'
import { onTestFinished } from 'vitest'

/** What tests need of a server, however it is put together. */
export interface Cluster {
  readonly url: string
  readonly kubeconfig: string
  readonly client: Client
  stop(): Promise<void>
}

export interface ClusterRequest<O> {
  /** How the services are joined. */
  readonly mode: 'embedded'
  readonly options?: O
}

/**
 * Makes the function by which tests get a server of their own; it is stopped when the test ends.
 *
 *   const startCluster = clusterStarter({ embedded: start })
 *   const { client } = await startCluster({ mode: 'embedded' })
 */
export function clusterStarter<O, C extends Cluster>(starters: { readonly embedded: (options?: O) => Promise<C> }) {
  return async ({ mode, options }: ClusterRequest<O>): Promise<C> => {
    const cluster = await starters[mode](options)
    onTestFinished(() => cluster.stop())
    return cluster
  }
}
