/**
 * `npm run abuse [-- words…]`: requests that cost much, one after the other, and for each the longest time that it kept the event
 * loop from everything else, in CPU milliseconds of the loop's thread, so that other programs on the machine do not count.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { parseConfiguration } from '@orch/client'
import { start } from 'orch'
import { measure } from './stalls/meter.ts'
import { type Answered, attacks, type Heavy } from './stalls/requests.ts'

/** The longest time that any request may block the event loop. */
const stallMsMax = 100

const words = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'stalls-'))
const policy = { apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'RequestResponse' }] }
writeFileSync(join(folder, 'policy.json'), JSON.stringify(policy))
const auditing = [`--audit-policy-file=${join(folder, 'policy.json')}`, `--audit-log-path=${join(folder, 'audit.log')}`]

type Target = Awaited<ReturnType<typeof open>>

/** A server, and the client's thread. */
async function open(flags: readonly string[], nodes = 0) {
  const server = await start({ controllers: ['*'], nodes, featureGates: ['CBORServingAndStorage=true'], flags: [...flags] })
  const { certificateAuthority: ca = '', clientCertificate: cert = '', clientKey: key = '' } = await parseConfiguration(server.kubeconfig)
  const client = new Worker(new URL('./stalls/client.ts', import.meta.url), {
    workerData: { url: server.url, credentials: { ca, cert, key } },
  })
  const waiting = new Map<number, (answered: Answered) => void>()
  let count = 0
  client.on('message', (answered: Answered & { readonly id: number }) => {
    waiting.get(answered.id)?.(answered)
    waiting.delete(answered.id)
  })
  return {
    send(request: Heavy): Promise<Answered> {
      return new Promise((resolve) => {
        count += 1
        waiting.set(count, resolve)
        client.postMessage({ id: count, ...request })
      })
    },
    async close() {
      await client.terminate()
      await server.stop()
    },
  }
}

const plain = await open([])
let audited: Target | undefined
let withNode: Target | undefined

let failures = 0
process.stdout.write('| request | bytes | answer | longest stall, CPU ms | all CPU, ms | turns |\n|---|---|---|---|---|---|\n')
for (const { name, before, mayFail = false, request: make, times = 1, isAudited = false, isOnNode = false } of attacks) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue
  if (isAudited) audited ??= await open(auditing)
  if (isOnNode) withNode ??= await open([], 1)
  const { send } = (isAudited ? audited : isOnNode ? withNode : plain) ?? plain
  for (const one of before?.() ?? []) {
    const { code, text } = await send(one)
    if (!mayFail && (code >= 300 || code === 0)) process.stdout.write(`before ${name}: ${code} ${text.slice(0, 300)}\n`)
  }
  const request = make()
  let answered: Answered = { code: 0, bytes: 0, text: '' }
  const { stallMs, totalMs, turns } = await measure(async () => {
    ;[answered = answered] = await Promise.all(Array.from({ length: times }, () => send(request)))
  })
  const isTooLong = stallMs > stallMsMax
  if (isTooLong) failures += 1
  process.stdout.write(
    `| ${name} | ${request.body?.length ?? request.path.length} | ${answered.code} | ${isTooLong ? '**' : ''}${stallMs.toFixed(0)}${isTooLong ? '**' : ''} | ${totalMs.toFixed(0)} | ${turns} |\n`,
  )
  if (process.env['STALLS_ANSWERS'] !== undefined) process.stdout.write(`${answered.text.slice(0, 200)}\n`)
}
await Promise.all([plain.close(), audited?.close(), withNode?.close()])
rmSync(folder, { recursive: true })
process.exitCode = failures === 0 ? 0 : 1
