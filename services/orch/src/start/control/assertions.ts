import { badRequest, timeout } from '@orch/core/meta'
import { asBadRequest } from '@orch/gateway'
import { toMs } from '@orch/platform'
import { awaitOrBadRequest, object, type Route, type RoutedCall, route } from './route.ts'

/** The parts of a test server that its assertions need. */
export interface AssertedServer {
  settled(options?: { readonly within?: number }): Promise<void>
  hotLoops(user: string | undefined, time: number): Promise<string[]>
  leaks(): Promise<string[]>
}

/** `/settled`, `/hot-loops` and `/leaks`. */
export function assertionRoutes(server: AssertedServer): readonly Route[] {
  const lines = (found: readonly string[]) => object({ items: found.map((text) => ({ text })) })
  return [
    route('GET /settled?within', 'waits until the server has no work left; ?within=5s', async (call) => {
      const within = readTime(call, 'within', '5s')
      const [outcome] = await Promise.allSettled([server.settled({ within })])
      if (outcome.status === 'rejected') throw timeout(String(outcome.reason instanceof Error ? outcome.reason.message : outcome.reason))
      return object({ settled: true })
    }),
    route(
      'GET /hot-loops?user&for',
      'observes users for a time in which nothing else happens, and describes those that do not come to rest; ?user=operator&for=2s',
      async (call) => {
        const time = readTime(call, 'for', '2s')
        return lines(await awaitOrBadRequest('user', () => server.hotLoops(call.query.get('user'), time)))
      },
    ),
    route('GET /leaks', 'open watches, held leases, namespaces and objects that finalizers hold', async () => lines(await server.leaks())),
  ]
}

const timeMsMax = 300_000

function readTime({ query }: RoutedCall, name: string, otherwise: string): number {
  const text = query.get(name) ?? otherwise
  const ms = asBadRequest(name, () => toMs(name, text))
  if (ms > timeMsMax) throw badRequest(`${name}=${text}: must be at most 5m`)
  return ms
}
