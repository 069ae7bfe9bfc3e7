import { type ClientHttp2Session, connect } from 'node:http2'
import type { Credentials } from './orch-server.ts'

/** Longest time without a byte of an answer. */
const silenceMsMax = 60_000

export async function openSession(port: number, { ca, cert, key }: Credentials): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, { ca, cert, key, servername: 'localhost' })
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve())
    session.once('error', reject)
    session.once('close', () => reject(new Error(`port ${port}: the session was closed before it was open`)))
    session.setTimeout(silenceMsMax, () => {
      if (session.connecting) session.destroy(new Error(`port ${port}: no session within ${silenceMsMax / 1000} s`))
    })
  })
  session.on('error', () => session.destroy())
  return session
}

/** Requests per second with `concurrency` concurrent streams on one session. */
export async function loadHttp2(
  session: ClientHttp2Session,
  path: string,
  { concurrency, durationMs }: { concurrency: number; durationMs: number },
): Promise<{ perSecond: number; count: number }> {
  const began = performance.now()
  let count = 0
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': path, accept: 'application/json' })
      stream.on('response', (headers) => {
        if (headers[':status'] !== 200) reject(new Error(`answered ${headers[':status']}`))
      })
      stream.resume()
      stream.on('end', resolve)
      stream.on('error', reject)
      // A stream that ends with its session emits neither `error` nor `end`.
      stream.on('close', () => reject(new Error(`GET ${path}: the stream was closed before the answer had ended`)))
      stream.setTimeout(silenceMsMax, () => stream.destroy(new Error(`GET ${path}: nothing came for ${silenceMsMax / 1000} s`)))
    })
  const loop = async (): Promise<void> => {
    while (performance.now() - began < durationMs) {
      await one()
      count++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
  return { perSecond: count / ((performance.now() - began) / 1000), count }
}
