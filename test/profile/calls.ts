import { get as getHttp } from 'node:http'
import { get as getHttps, type RequestOptions } from 'node:https'
import type { StartedServer } from './server.ts'

/** The calls to other services so far, by `gateway-0 → Storage.Commit`. */
export type Calls = ReadonlyMap<string, number>

/** Reads the metrics of each process that has a metrics address. */
export async function callsOf({ probes, shown }: StartedServer): Promise<Calls> {
  const texts = await Promise.all([...probes].map(async ([name, url]) => [name, await read(metricsUrl(url), shown)] as const))
  return new Map(texts.flatMap(([name, text]) => callsIn(name, text)))
}

/** The calls in the metrics of one process, with any outcome. */
export function callsIn(process: string, metrics: string): [string, number][] {
  const counts = new Map<string, number>()
  for (const [, labels = '', count] of metrics.matchAll(/^orch_rpc_client_duration_seconds_count\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    const name = `${process} → ${label('service')}.${label('method')}`
    counts.set(name, (counts.get(name) ?? 0) + Number(count))
  }
  return [...counts]
}

/** A gateway serves its metrics at the same address as `/readyz`. */
function metricsUrl(probes: string): string {
  return `${probes.replace(/\/readyz$/, '').replace(/\/$/, '')}/metrics`
}

function read(url: string, shown: StartedServer['shown']): Promise<string> {
  const isTls = url.startsWith('https:')
  const options: RequestOptions = isTls ? { ...shown, servername: 'localhost' } : {}
  return new Promise((resolve) => {
    const request = (isTls ? getHttps : getHttp)(isTls || url.startsWith('http:') ? url : `http://${url}`, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve(text))
    })
    // A process without metrics appears without calls.
    request.on('error', () => resolve(''))
  })
}
