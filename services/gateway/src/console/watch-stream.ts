import { isJsonObject } from '@orch/core/json'
import { badRequest } from '@orch/core/meta'
import { Batches } from '../exchange/batches.ts'
import type { Exchange, HeaderFields } from '../exchange/exchange.ts'
import type { InProcessExchange, InProcessRequest } from '../exchange/in-process.ts'
import { limits } from './limits.ts'
import { isWithoutValues, WithoutApplied } from './without-applied.ts'

const json = 'application/json'

/** The dependencies of a stream of watches. */
interface StreamParts {
  readonly headers: HeaderFields
  readonly isWatch: (target: string) => boolean
  readonly open: (request: InProcessRequest) => InProcessExchange
}

/**
 * Streams the events of several watches as lines of JSON: over HTTP/1.1 a browser opens only six connections, and a page needs more watches.
 *
 *   {"watches":{"pods":{"path":"/api/v1/pods?watch=1","accept":"application/json;as=Table;…"}}}
 *
 *   {"watch":"pods","event":{"type":"ADDED","object":{…}}}
 *   {"watch":"pods","end":410,"status":{…}}      the end of a watch, with a status if the server refused it
 */
export function streamWatches(exchange: Exchange, watches: Readonly<Record<string, unknown>>, parts: StreamParts): void {
  const entries = Object.entries(watches)
  if (entries.length > limits.watchesPerStreamMax) throw badRequest(`watches: more than ${limits.watchesPerStreamMax} in one stream`)
  const requests = entries.map(([name, watch]) => {
    const { path, accept = json } = isJsonObject(watch) ? watch : {}
    if (typeof path !== 'string' || !parts.isWatch(path)) throw badRequest(`watches.${name}.path: must be the path of a watch`)
    if (typeof accept !== 'string') throw badRequest(`watches.${name}.accept: must be a media type`)
    return { name, accept, request: { method: 'GET', path, headers: headersOf(exchange, accept) } }
  })
  exchange.begin(200, parts.headers)
  const open = requests.map(({ request, ...one }) => ({ ...one, watch: parts.open(request) }))
  exchange.onClose(() => {
    for (const { watch } of open) watch.destroy()
  })
  // An answer is sent with its first write, and a page must know that its watches have begun.
  exchange.write('\n')
  const batches = new Batches(exchange)
  void Promise.all(open.map((one) => follow(exchange, batches, one))).then(() => batches.end())
}

interface OpenWatch {
  readonly name: string
  readonly accept: string
  readonly watch: InProcessExchange
}

/** The headers of a request by the console for a page. Compression would hide the bytes. */
export function headersOf(exchange: Exchange, accept = exchange.header('accept') ?? json): Record<string, string> {
  return { accept, 'user-agent': exchange.header('user-agent') ?? '' }
}

/** Passes on the events of one watch, as fast as the client reads. Never throws. */
async function follow(exchange: Exchange, batches: Batches, { name, accept, watch }: OpenWatch): Promise<void> {
  const front = `{"watch":${JSON.stringify(name)},`
  let code = 0
  let rest = ''
  try {
    const { status, body } = await watch.response
    code = status
    const decoder = new TextDecoder()
    const filter = isWithoutValues(accept) ? new WithoutApplied() : undefined
    for await (const bytes of body) {
      const text = decoder.decode(filter === undefined ? bytes : filter.pass(bytes), { stream: true })
      const end = status === 200 ? text.lastIndexOf('\n') + 1 : 0
      const lines = end === 0 ? [] : (rest + text.slice(0, end - 1)).split('\n')
      rest = (end === 0 ? rest : '') + text.slice(end)
      if (lines.length > 0) batches.write(lines.map((line) => `${front}"event":${line}}\n`).join(''))
      // Only a remote server sends such a line. The end of this loop closes the watch.
      if (rest.length > limits.eventCharactersMax) break
      while (exchange.waitingBytes > limits.streamBytesMax && !exchange.isClosed) await exchange.drained()
    }
  } catch {
    // The watch was cut off, for example at the end of the session: the page opens it again.
  }
  const status = code === 200 || code === 0 ? 'null' : JSON.stringify(rest)
  batches.write(`${front}"end":${code},"status":${status}}\n`)
}
