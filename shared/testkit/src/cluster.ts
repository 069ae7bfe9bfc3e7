import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@orch/client'
import { namesOf } from '@orch/core/names'
import { certificateFolder, keepServiceCertificates, systemClock } from '@orch/platform'
import { onTestFinished } from 'vitest'

/** The connection between the services of a cluster: function calls, or gRPC over an etcd and NATS. */
export type ClusterMode = 'embedded' | 'distributed'

/** The mode of this run of the tests. */
export function clusterMode(): ClusterMode {
  const mode = process.env.ORCH_TEST_MODE ?? 'embedded'
  if (mode !== 'embedded' && mode !== 'distributed') throw new Error(`ORCH_TEST_MODE=${mode}: expected embedded or distributed`)
  return mode
}

/** A server for tests, in any mode. */
export interface Cluster {
  readonly url: string
  readonly kubeconfig: string
  readonly client: Client
  stop(): Promise<void>
}

export interface ClusterRequest<O> {
  readonly mode: 'embedded'
  readonly options?: O
}

/**
 * Makes the function that starts a server for a test and stops it when the test ends.
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

/** One etcd and one nats-server for all clusters of this process; they end with it. Each cluster has a different prefix. */
export async function sharedBackends() {
  opened ??= openBackends()
  const { etcd, nats, serviceCertificates } = await opened
  return {
    etcdServers: [`http://${etcd}`],
    natsServers: [nats],
    /** Folder with certificates for services of this machine. */
    serviceCertificates,
    /** The prefix of one cluster's state; no other cluster uses it. */
    prefix: `/test-${randomBytes(6).toString('hex')}`,
  }
}

let opened: ReturnType<typeof openBackends> | undefined

async function openBackends() {
  const { findBackend, openEtcd, openNats } = await import('./backends/index.ts')
  const [etcdProgram, natsProgram] = await Promise.all([findBackend('etcd'), findBackend('nats-server')])
  if (etcdProgram.kind === 'missing') throw new Error(etcdProgram.reason)
  if (natsProgram.kind === 'missing') throw new Error(natsProgram.reason)
  const serviceCertificates = mkdtempSync(join(tmpdir(), 'services-'))
  const [etcd, nats] = await Promise.all([
    openEtcd({ path: etcdProgram.path }),
    openNats({ path: natsProgram.path }),
    // Role names in certificates are the same in every profile.
    keepServiceCertificates({
      files: certificateFolder(serviceCertificates),
      names: namesOf('orch'),
      hostNames: ['localhost', '127.0.0.1'],
      clock: systemClock,
    }),
  ])
  // The test runner ends its processes with SIGTERM, on which Node emits no `exit` event.
  process.once('SIGTERM', () => process.exit())
  process.once('exit', () => {
    void etcd.kill()
    void nats.kill()
    for (const folder of [etcd.dataDir, nats.dataDir, serviceCertificates]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return { etcd: etcd.address, nats: nats.address, serviceCertificates }
}
