/**
 * The floor of the lines on etcd: a client that only compares and puts, or puts and watches. Receives its work from its parent process and answers with
 * the measurements.
 */
import { createRequire } from 'node:module'

/** The used members of a library that storage depends on and the bench does not. */
interface Client {
  if(key: string, target: 'Version', comparison: '==', value: number): { then(put: unknown): { commit(): Promise<unknown> } }
  put(key: string): { value(text: string): Promise<unknown> }
  watch(): { prefix(prefix: string): { create(): Promise<Watcher> } }
}

interface Watcher {
  on(event: 'put', listener: (kv: { readonly key: Buffer }) => void): void
  cancel(): Promise<void>
}

const { Etcd3 } = createRequire(new URL('../../services/storage/package.json', import.meta.url))('etcd3') as {
  readonly Etcd3: new (options: { readonly hosts: string }) => Client
}

interface Asked {
  readonly kind: 'put' | 'delay'
  readonly concurrency: number
  readonly durationMs: number
  readonly bytes: number
}

const client = new Etcd3({ hosts: process.argv[2] ?? '' })
let serial = 0

process.on('message', ({ kind, concurrency, durationMs, bytes }: Asked) => {
  const value = 'x'.repeat(bytes)
  const measured = kind === 'put' ? putAll(concurrency, durationMs, value) : delays(durationMs, value)
  void measured.then((answer) => process.send?.(answer))
})
process.send?.('ready')

/** Creates absent keys, a given number at a time. */
async function putAll(concurrency: number, durationMs: number, value: string) {
  const begun = performance.now()
  let count = 0
  const work = async () => {
    while (performance.now() - begun < durationMs) {
      const key = `/floor/${process.pid}-${serial++}`
      await client.if(key, 'Version', '==', 0).then(client.put(key).value(value)).commit()
      count += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { count, perSecond: (count / (performance.now() - begun)) * 1000 }
}

/** Times from each put to its event, in milliseconds. */
async function delays(durationMs: number, value: string): Promise<number[]> {
  const arrived = new Map<string, () => void>()
  const watcher = await client.watch().prefix('/delay/').create()
  watcher.on('put', ({ key }) => arrived.get(key.toString())?.())
  const times: number[] = []
  const begun = performance.now()
  while (performance.now() - begun < durationMs) {
    const key = `/delay/${process.pid}-${serial++}`
    const sent = performance.now()
    const seen = new Promise<void>((resolve) => arrived.set(key, resolve))
    await Promise.all([client.put(key).value(value), seen])
    times.push(performance.now() - sent)
    arrived.delete(key)
  }
  await watcher.cancel()
  return times
}
