/**
 * Asks a process of the same pod for its health: `node probe.mjs http://127.0.0.1:7101/readyz`. Probes are answered on
 * loopback only, without a certificate, so the kubelet asks from within. The certificate of a process is
 * not verified, as by the kubelet: the question is whether it answers, not which process it is.
 */
import { readFileSync } from 'node:fs'
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'

const url = process.argv[2] ?? ''
// With certificates for metrics, probes need one too: the second argument is the folder that holds it.
const folder = process.argv[3]
const pair = folder === undefined ? {} : { cert: readFileSync(`${folder}/tls.crt`), key: readFileSync(`${folder}/tls.key`) }
const options = { ...pair, timeout: 3_000, rejectUnauthorized: false }
const answered = (url.startsWith('https:') ? getHttps : getHttp)(url, options, (response) => {
  response.resume()
  process.exitCode = response.statusCode === 200 ? 0 : 1
})
answered.on('timeout', () => answered.destroy(new Error('no answer in time')))
answered.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
})
