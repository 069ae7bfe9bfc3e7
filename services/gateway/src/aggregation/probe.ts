import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Names } from '@orch/core/names'
import { answerHead, type Clock } from '@orch/platform'
import { unreachedReason } from '@orch/platform/webhooks'
import { type RemoteApi, rootOf } from './api-service.ts'
import type { Backends } from './backends.ts'
import { identityOf } from './passed-headers.ts'

/** The dependencies of probing a remote server. */
export interface ProbeParts {
  readonly backends: Backends
  readonly clock: Pick<Clock, 'after'>
  readonly names: Names
}

const attempts = 5
const probeMsMax = 5_000

/**
 * Requests the group version from its server, several times at once; one valid answer is sufficient. Certificates are not verified, because the
 * answer has no other use.
 */
export async function probe(api: RemoteApi, parts: ProbeParts): Promise<void> {
  try {
    await Promise.any(Array.from({ length: attempts }, () => probeOnce(api, parts)))
  } catch (error) {
    throw error instanceof AggregateError ? error.errors.at(-1) : error
  }
}

async function probeOnce(api: RemoteApi, { backends, clock, names }: ProbeParts): Promise<void> {
  const { host, port, ...options } = await backends.reach(api, { verifies: false })
  const url = `https://${host?.includes(':') ? `[${host}]` : host}:${port}${rootOf(api)}`
  const ending = new AbortController()
  const timer = clock.after(probeMsMax, () => ending.abort())
  const user = { name: `system:${names.aggregator}`, uid: '', groups: ['system:masters'], extra: {} }
  const headers = { 'user-agent': names.serverManager, ...identityOf(user, false) }
  try {
    const place = { host: host ?? '', port: port ?? '' }
    const { signal } = ending
    const send = () => statusOf({ ...options, ...place, path: rootOf(api), headers, signal })
    const code = await backends.ask(api, 'availability', { signal, send, refuse: (given) => given })
    if (code < 200 || code >= 300) throw new Error(`bad status from ${url}: ${code}`)
  } catch (error) {
    const why = ending.signal.aborted ? `Get ${JSON.stringify(url)}: context deadline exceeded` : unreachedReason(error)
    throw new Error(`failing or missing response from ${url}: ${why}`, { cause: error })
  } finally {
    timer.cancel()
  }
}

/** The head is sufficient; the body is ignored. */
async function statusOf(options: RequestOptions): Promise<number> {
  const request = httpsRequest(options)
  request.end()
  const response = await answerHead(request)
  response.destroy()
  return response.statusCode ?? 0
}
