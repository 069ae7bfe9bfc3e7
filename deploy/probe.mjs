/**
 * Asks a process of the same pod whether it is well: `node probe.mjs http://127.0.0.1:7101/readyz`. Probes are answered on
 * loopback only, where no certificate is wanted, so the kubelet asks from within.
 */
import { get } from 'node:http'

const answered = get(process.argv[2] ?? '', { timeout: 3_000 }, (response) => {
  response.resume()
  process.exitCode = response.statusCode === 200 ? 0 : 1
})
answered.on('timeout', () => answered.destroy(new Error('no answer in time')))
answered.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
})
