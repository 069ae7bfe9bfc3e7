import { headerText, lengthOf } from '../exchange/exchange.ts'
import { commonHeaders, type GatewayRequest, OtherServerFailure } from '../request/index.ts'
import type { GatewayState } from '../server/state.ts'
import { passedResponseHeaders, passedTrailers } from './passed-headers.ts'
import type { Response } from './send-behind.ts'

/** The dependencies of forwarding an answer. */
export interface PassAnswerParts {
  readonly state: Pick<GatewayState, 'watches'>
  /** True if a redirect of a remote server is an error; otherwise it is forwarded to the client. */
  readonly rejectsRedirects: boolean
}

const redirectText = 'the backend attempted to redirect this request, which is not permitted'

/** Writes the answer at the speed of the client. */
export async function passAnswer(request: GatewayRequest, response: Response, { rejectsRedirects, state }: PassAnswerParts): Promise<void> {
  const { exchange } = request
  const { code } = response
  if (!(code >= 200 && code <= 599)) {
    response.destroy()
    throw new Error(`the server has answered with the status ${code}`)
  }
  if (rejectsRedirects && code >= 300 && code < 400 && response.headers['location'] !== undefined) {
    response.destroy()
    throw new OtherServerFailure(502, redirectText)
  }
  const { headers, bodyBytes } = answerHead(request, response)
  request.code = code
  exchange.begin(code, headers)
  const watch = { request, finish: () => response.destroy(), compare() {} }
  if (request.isLongRunning) {
    request.leave()
    request.audit?.responseStarted()
    state.watches.add(watch)
  }
  try {
    for await (const chunk of response.body) {
      request.sentBytes += chunk.length
      if (bodyBytes !== undefined && request.sentBytes > bodyBytes) throw new Error('the answer is longer than its head says')
      if (!exchange.write(chunk)) await exchange.drained()
      if (exchange.isClosed) return
    }
    if (bodyBytes !== undefined && request.sentBytes < bodyBytes) throw new Error('the answer is shorter than its head says')
    const trailers = passedTrailers(response.trailers())
    exchange.end(Object.keys(trailers).length === 0 ? undefined : trailers)
  } catch {
    // The client can see that the answer is incomplete.
    exchange.destroy()
  } finally {
    state.watches.delete(watch)
  }
}

/** The head of the answer. This server's own fields replace those of the other server. */
function answerHead(request: GatewayRequest, { code, headers: received }: Response) {
  const { 'content-type': _type, 'cache-control': cacheControl = '', ...ours } = commonHeaders(request, '')
  const { 'content-length': length, ...passed } = passedResponseHeaders(received)
  const bytes = received['transfer-encoding'] === undefined && code !== 204 ? lengthOf(headerText(length) ?? '') : undefined
  const warnings = [...listed(ours.warning), ...listed(passed.warning)]
  const headers = {
    ...{ 'cache-control': cacheControl, ...passed, ...ours },
    ...(warnings.length === 0 ? {} : { warning: warnings }),
    ...(bytes === undefined ? {} : { 'content-length': String(bytes) }),
  }
  const hasBody = request.method !== 'HEAD' && code !== 304
  return {
    headers,
    /** The announced length of the body; undefined without a body. */
    bodyBytes: hasBody ? bytes : undefined,
  }
}

function listed(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
