import type { Client } from '@orch/client'
import type { GatewayOptions } from '@orch/gateway'
import { systemClock } from '@orch/platform'
import { isLoopback } from '../serving/loopback.ts'
import type { ServingOptions } from '../serving/settings.ts'

/** The settings that decide about the console of a gateway. */
export interface ConsoleNeeds {
  readonly serving: Pick<ServingOptions, 'console' | 'bindAddress'>
  /** True for a server with defaults for trying out, which has a console on a loopback address. */
  readonly hasUsualConsole?: boolean | undefined
}

/** The console of a gateway; undefined for none. */
export function consoleOf({ serving, hasUsualConsole = false }: ConsoleNeeds): GatewayOptions['console'] {
  const isLocal = isLoopback(serving.bindAddress)
  if (serving.console === 'false' || (serving.console === 'auto' && !(hasUsualConsole && isLocal))) return undefined
  return { folder: filesOf(import.meta.url), plainHost: isLocal ? serving.bindAddress : undefined, clock: systemClock }
}

/** The page of a trace, as one file without a server. */
export function offlinePage(): URL {
  return new URL('../trace.html', filesOf(import.meta.url))
}

/** The folder of the page: next to the bundle with this file. Sources and compiled files use the last bundle. */
function filesOf(url: string): URL {
  return new URL(/\/console\/open\.[jt]s$/.test(url) ? '../../dist/bundle/console/' : './console/', url)
}

/** Creates a link that opens the console of a server once, within a minute, as the user of the client. */
export async function consoleLink(client: Pick<Client, 'request'>): Promise<string> {
  const { url } = await client.request<{ readonly url: string }>({ method: 'POST', path: '/console/ticket' })
  return url
}
