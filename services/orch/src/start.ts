import { type Client, createClient, createHttpsTransport, printConfiguration } from '@orch/client'
import { certificateMemory, silentLog, systemClock } from '@orch/platform'
import { createMemoryStore, type StateSnapshot } from '@orch/storage'
import { readAdmission } from './admission/options.ts'
import { readControllers } from './controllers/options.ts'
import { readGateway } from './gateway/options.ts'
import { type Server, startServer } from './server.ts'
import { readStartSettings, type StartOptions } from './start-settings.ts'

/** A server of one's own, in memory, on a free port. */
export interface RunningServer extends AsyncDisposable {
  /** Where it listens, with the path prefix if there is one: `https://127.0.0.1:41234`. */
  readonly url: string
  /** A client configuration file, for any client. */
  readonly kubeconfig: string
  /** The administrator's client. */
  readonly client: Client
  /** Makes the state what it was when the server had started. */
  reset(): Promise<void>
  /** The state as it is now, to come back to. */
  snapshot(): StateSnapshot
  /** Makes the state what it was; versions go on, open watches end with 410. */
  restore(snapshot: StateSnapshot): Promise<void>
  /** Ends open requests at once; leaves no handle, port or file behind. */
  stop(): Promise<void>
}

/** Starts a server in this process; it is ready when the promise resolves. Any number may run at a time. Wrong options reject. */
export async function start(options: StartOptions = {}): Promise<RunningServer> {
  const settings = readStartSettings(options)
  const server = await startServer({
    ...readGateway(settings),
    controllers: readControllers(settings),
    admission: readAdmission(settings),
    watchHistoryMs: settings.watchHistoryMs,
    store: createMemoryStore(),
    certificateFiles: certificateMemory(),
    freezesLinks: options.freezesLinks ?? false,
    hasProcessMetrics: false,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    log: options.log ?? silentLog,
  })
  return toRunningServer(server, settings.shutdownDelayMs)
}

function toRunningServer(server: Server, shutdownDelayMs: number): RunningServer {
  const { url, names, configuration, storage } = server
  const client = createClient(createHttpsTransport(configuration))
  const atStart = storage.snapshot()
  const stop = async () => {
    client.close()
    await server.stop({ delayMs: shutdownDelayMs, graceMs: 0 })
  }
  return {
    url,
    kubeconfig: printConfiguration({ cluster: names.serverServiceName, user: `${names.serverServiceName}-admin`, configuration }),
    client,
    reset: () => storage.restore(atStart),
    snapshot: () => storage.snapshot(),
    restore: (snapshot) => storage.restore(snapshot),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
