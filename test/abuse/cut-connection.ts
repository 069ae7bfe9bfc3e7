/**
 * A child process: a listener whose connection over HTTP/2 ends in the turn in which a request was answered before its body. Sends
 * "closed" when the connection is closed. Ends itself where it takes a gigabyte: an endless loop of native code takes all memory.
 */
import { connect as connectHttp2 } from 'node:http2'
import { Worker } from 'node:worker_threads'
import { certificateMemory, fixedPair, readCertificates, systemClock } from '@orch/platform'
import type { Exchange } from '../../services/gateway/src/exchange/exchange.ts'
import { Listener } from '../../services/gateway/src/listener/listener.ts'

const [manner] = process.argv.slice(2)
const watch = `setInterval(() => process.memoryUsage.rss() > 1e9 && process.kill(process.pid, 'SIGKILL'), 20)`
new Worker(watch, { eval: true }).unref()

const { serving, authority } = await readCertificates({
  files: certificateMemory(),
  product: 'orch',
  names: ['127.0.0.1'],
  clock: systemClock,
})
const both = Promise.withResolvers<void>()
const exchanges: Exchange[] = []
const listener = await Listener.open(
  { host: '127.0.0.1', port: 0, pair: fixedPair(serving), authorities: { current: { clients: '', proxies: '' }, listen: () => () => {} } },
  (exchange) => {
    exchanges.push(exchange)
    if (exchanges.length === 2) both.resolve()
  },
)
const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { ca: authority })
session.on('error', () => {})
for (const method of ['POST', 'POST']) session.request({ ':method': method, ':path': '/', 'content-length': '100' }).on('error', () => {})
await both.promise
// Lets nghttp2 process its received bytes.
await new Promise((resolve) => setImmediate(resolve))
const [first] = exchanges
void first?.readBody(10)
if (manner === 'whole') {
  first?.send(413, {}, 'too large')
} else {
  first?.begin(413, {})
  first?.write('begun')
  first?.end()
}
await listener.close()
process.send?.('closed')
session.destroy()
process.disconnect()
