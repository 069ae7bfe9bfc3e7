import { domainGroup, type Names } from '@orch/core/names'
import { callAtClose } from '../exchange/http1.ts'
import { commonHeaders, type GatewayRequest } from '../request/index.ts'
import { chooseForm, offeredChannels, openWebSocket } from '../streams/upgrade.ts'

/** The client of a log, which receives the body of an answer or the messages of a WebSocket. */
export interface LogSink {
  readonly isClosed: boolean
  onClose(callback: () => void): void
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Ends the log as incomplete. */
  destroy(): void
}

/** Begins the answer to a request for a log. Throws the refusal of a WebSocket without a supported subprotocol. */
export async function openLogSink(request: GatewayRequest, names: Names): Promise<LogSink> {
  const { exchange } = request
  const { upgrade } = exchange
  const offered = offeredChannels(request)
  if (upgrade !== undefined && offered !== undefined) {
    const binary = domainGroup(names, 'binary')
    const forms = new Map([...['', binary].map((name) => [name, { isText: false }] as const), [`base64.${binary}`, { isText: true }]])
    const { subprotocol, form } = chooseForm(offered, forms)
    return messagesOf(await openWebSocket(request, upgrade, subprotocol), form)
  }
  request.code = 200
  exchange.begin(200, commonHeaders(request, 'text/plain'))
  return {
    get isClosed() {
      return exchange.isClosed
    },
    onClose: (callback) => exchange.onClose(callback),
    async write(bytes) {
      if (!exchange.write(bytes)) await exchange.drained()
    },
    end: () => exchange.end(),
    destroy: () => exchange.destroy(),
  }
}

/** An empty message tells the client that the log begins; text is in base64. */
async function messagesOf(
  webSocket: Awaited<ReturnType<typeof openWebSocket>>,
  { isText }: { readonly isText: boolean },
): Promise<LogSink> {
  const sink: LogSink = {
    get isClosed() {
      return webSocket.readyState !== webSocket.OPEN
    },
    onClose: (callback) => callAtClose(callback, webSocket, webSocket.readyState === webSocket.CLOSED),
    write: (bytes) =>
      new Promise((resolve) =>
        webSocket.send(isText ? Buffer.from(bytes).toString('base64') : bytes, { binary: !isText }, () => resolve()),
      ),
    end: () => webSocket.close(1000),
    destroy: () => webSocket.terminate(),
  }
  await sink.write(new Uint8Array())
  return sink
}
