import { asBadRequest, Members } from '@orch/gateway'
import { SettingsError } from '@orch/platform'
import { readExploration } from '../explore/weather.ts'
import type { Snapshot } from '../server-snapshot.ts'
import type { StartOptions } from '../start-settings.ts'
import { failure, Named, object, type Route, route } from './route.ts'

/** The largest number of concurrent forks that callers made. */
const forksMax = 100
/** The number of kept snapshots. */
const snapshotsMax = 100

/** The parts of a test server that its copies need. */
export interface CopiedServer {
  snapshot(): Snapshot
  restore(snapshot: Snapshot): Promise<void>
  reset(): Promise<void>
  fork(options: Pick<StartOptions, 'exploration'>): Promise<Fork>
}

/** A fork, with its control. */
export interface Fork {
  readonly url: string
  readonly kubeconfig: string
  readonly control: ControlAccess | undefined
  /** A link that opens the console once. Rejects if the server has no console. */
  console(): Promise<string>
  stop(): Promise<void>
}

/** All facts that a program needs to control a server. */
export interface ControlAccess {
  /** `https://127.0.0.1:6443/orch/v1` */
  readonly url: string
  /** A bearer token. */
  readonly token: string
  /** PEM of the authority that signed the server's certificate. */
  readonly certificateAuthority: string
}

/** Snapshots and forks that callers made. */
export class Copies {
  readonly forks = new Named<Fork>('fork', forksMax)
  readonly snapshots = new Named<Snapshot>('snapshot', snapshotsMax)
  /** Ends when the last requested fork is made. */
  #making: Promise<unknown> = Promise.resolve()
  #isClosed = false

  /** Makes forks one after the other: many at once would hold the event loop, and exceed their bound. */
  fork(given: string | undefined, make: () => Promise<Fork>): Promise<readonly [string, Fork]> {
    const making = this.#making.then(async () => {
      if (this.#isClosed) throw failure(503, 'ServiceUnavailable', 'the server is stopping')
      const name = this.forks.nextName(given)
      const fork = await make()
      this.forks.set(name, fork)
      return [name, fork] as const
    })
    this.#making = making.catch(() => {})
    return making
  }

  /** Stops all forks. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#making
    const forks = this.forks.entries()
    this.forks.clear()
    await Promise.all(forks.map(([, fork]) => fork.stop()))
  }
}

/** `/forks`, `/snapshots`, `/restore` and `/reset`. */
export function copyRoutes(server: CopiedServer, copies: Copies): readonly Route[] {
  const { forks, snapshots } = copies
  return [
    route('GET /forks', 'the forks that were made here', () => object({ items: forks.entries().map(named) })),
    route(
      'POST /forks',
      'a second server that begins at the present moment: {"name":"a"}; {"exploration":"7"} gives it the order and the weather of orch explore',
      async ({ body }) => {
        const members = new Members(body, '', ['name', 'exploration'])
        const exploration = members.text('exploration')
        asBadRequest('exploration', () => readExploration(exploration))
        const options = exploration === undefined ? {} : { exploration }
        return object(named(await copies.fork(members.text('name'), () => asked(() => server.fork(options)))), 201)
      },
    ),
    route('GET /forks/:name', 'a fork', ({ param }) => object(named([param('name'), forks.get(param('name'))]))),
    route('POST /forks/:name/console', 'a link that opens the console of a fork once, where this server has one', async ({ param }) =>
      object({ url: await asked(() => forks.get(param('name')).console()) }, 201),
    ),
    route('DELETE /forks/:name', 'stops a fork', async ({ param }) => {
      await forks.take(param('name')).stop()
      return object({})
    }),
    route('GET /snapshots', 'the snapshots that were taken here', () =>
      object({ items: snapshots.entries().map(([name, { revision }]) => ({ name, revision })) }),
    ),
    route('POST /snapshots', 'keeps the present moment for a later restore: {"name":"a"}', ({ body }) => {
      const name = snapshots.nextName(new Members(body, '', ['name']).text('name'))
      const snapshot = server.snapshot()
      snapshots.set(name, snapshot)
      return object({ name, revision: snapshot.revision }, 201)
    }),
    route('DELETE /snapshots/:name', 'forgets a snapshot', ({ param }) => {
      snapshots.take(param('name'))
      return object({})
    }),
    route('POST /restore', 'restores a snapshot as new revisions: {"snapshot":"a"}', async ({ body }) => {
      const snapshot = snapshots.get(new Members(body, '', ['snapshot']).requiredText('snapshot'))
      await server.restore(snapshot)
      return object({ revision: server.snapshot().revision })
    }),
    route('POST /reset', 'restores the state of the start, and removes faults and the log of requests', async ({ body }) => {
      new Members(body, '', [])
      await server.reset()
      return object({ revision: server.snapshot().revision })
    }),
  ]
}

function named([name, { url, kubeconfig, control }]: readonly [string, Fork]) {
  return { name, url, kubeconfig, control }
}

/** A server that cannot be forked gives the reason. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SettingsError) throw failure(409, 'Conflict', error.message)
    throw error
  }
}
