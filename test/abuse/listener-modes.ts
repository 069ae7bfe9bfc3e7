import { type ClientConfiguration, parseConfiguration } from '@orch/client'
import { sharedBackends } from '@orch/testkit'
import { findBackend } from '@orch/testkit/backends'
import { start } from 'orch'
import { onTestFinished } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { Api } from '../api/api.ts'
import { startThreaded } from '../threads/threaded-server.ts'

/** A test server with one of the ways to listen to clients. */
export interface Listening {
  readonly api: Api
  /** One port of each gateway. */
  readonly ports: readonly number[]
  /** The number of started threads that have ended. */
  readonly endedThreads: () => number
}

export interface ListenerMode {
  readonly mode: string
  /** The reason why this way cannot run here; absent: it can. */
  readonly lack?: string
  readonly open: (flags?: readonly string[]) => Promise<Listening>
}

const backends = await Promise.all([findBackend('etcd'), findBackend('nats-server')])
const missing = backends.find((backend) => backend.kind === 'missing')

/** One process, several threads, and services apart. */
export const listenerModes: readonly ListenerMode[] = [
  {
    mode: 'in one process',
    async open(flags = []) {
      const server = await start({ controllers: [], flags })
      return listening([server.url], await parseConfiguration(server.kubeconfig), server.stop)
    },
  },
  {
    mode: 'in two threads',
    ...(canSharePorts ? {} : { lack: 'threads share a port on Linux alone' }),
    async open(flags = []) {
      const server = await startThreaded(flags)
      let ended = 0
      for (const { worker } of server.workers) worker.once('exit', () => (ended += 1))
      const opened = listening([server.url], server.configuration, server.stop)
      return { ...opened, endedThreads: () => ended }
    },
  },
  {
    mode: 'with services apart',
    ...(missing === undefined ? {} : { lack: missing.reason }),
    async open(flags = []) {
      const { startDistributed } = await import('../modes/start-distributed.ts')
      const sizes = { gateways: 2, storages: 1, watches: 1, admissions: 0 }
      const { urls, kubeconfig, stop } = await startDistributed({ controllers: [], flags }, { ...(await sharedBackends()), ...sizes })
      return listening(urls, await parseConfiguration(kubeconfig), stop)
    },
  },
]

function listening(urls: readonly string[], configuration: ClientConfiguration, stop: () => Promise<void>): Listening {
  const api = new Api(urls, configuration, stop)
  onTestFinished(() => api.stop())
  return { api, ports: urls.map((url) => Number(new URL(url).port)), endedThreads: () => 0 }
}
