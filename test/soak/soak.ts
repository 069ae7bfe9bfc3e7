/**
 * `npm run soak [-- minutes]`: one server on a folder with 20 s of history, 500 watches, and clients that write as fast as
 * they can; prints the sizes of memory and file each minute. Fails if memory or file still grow in the last third, or if a request fails.
 */
import { statSync } from 'node:fs'
import type { ClientHttp2Session } from 'node:http2'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { configMap } from '../bench/figure.ts'
import { bodyRequest, type Connection, openConnections } from '../bench/http1-load.ts'
import { openSession } from '../bench/http2-load.ts'
import { type OrchServer, startOrch } from '../bench/orch-server.ts'
import { descriptorsOf, isFlat, residentOf } from './resident.ts'

const minutes = Number(process.argv[2] ?? 10)
const namespaces = 10
const watchesPerNamespace = 50
const writers = 32
const objectBytes = 1_000
/** The number of names of each writer, which creates each object, updates it twice and deletes it. */
const namesPerWriter = 50
const historySeconds = 20
/** The allowed growth of the last third over the third before it. */
const within = 1.1

interface Counts {
  writes: number
  events: number
  failures: number
  /** The number of ended watches; the run reopens each. */
  reopened: number
}

type Sample = ReturnType<typeof sample>

const namespaceName = (number: number) => `soak-${number}`
const collection = (namespace: number) => `/api/v1/namespaces/${namespaceName(namespace)}/configmaps`

async function expectStatus(connection: Connection, request: Buffer, status: number, counts: Counts): Promise<void> {
  const answer = await connection.send(request)
  counts.writes++
  if (answer.status === status) return
  counts.failures++
  if (counts.failures < 10) process.stdout.write(`answered ${answer.status} where ${status} was expected\n`)
}

/** Creates, updates and deletes until the signal aborts. */
async function write(connection: Connection, writer: number, counts: Counts, signal: AbortSignal): Promise<void> {
  const namespace = writer % namespaces
  for (let round = 0; !signal.aborted; round++) {
    const name = `w-${writer}-${round % namesPerWriter}`
    const object = configMap(name, objectBytes)
    Object.assign(object['metadata'] as object, { namespace: namespaceName(namespace) })
    const path = collection(namespace)
    await expectStatus(connection, bodyRequest('POST', path, object), 201, counts)
    for (const text of ['first', 'second']) {
      await expectStatus(connection, bodyRequest('PUT', `${path}/${name}`, { ...object, data: { text: text.repeat(150) } }), 200, counts)
    }
    // The objects of the last rounds stay.
    const old = `w-${writer}-${(round + 1) % namesPerWriter}`
    if (round + 1 >= namesPerWriter) await expectStatus(connection, bodyRequest('DELETE', `${path}/${old}`, {}), 200, counts)
  }
}

function openWatch(session: ClientHttp2Session, namespace: number, counts: Counts, signal: AbortSignal): void {
  const stream = session.request({ ':path': `${collection(namespace)}?watch=true`, accept: 'application/json' })
  stream.on('response', (headers) => {
    if (headers[':status'] !== 200) counts.failures++
  })
  stream.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) counts.events++
  })
  stream.on('error', () => stream.destroy())
  stream.on('close', () => {
    if (signal.aborted || session.destroyed) return
    counts.reopened++
    openWatch(session, namespace, counts, signal)
  })
}

function sample(minute: number, { child, folder }: OrchServer, counts: Counts, last: Counts) {
  const pid = child.process.pid!
  const { all, own } = residentOf(pid)
  const file = statSync(join(folder, 'state.mdb')).size
  const perSecond = (name: keyof Counts) => (counts[name] - last[name]) / 60
  const cells = [
    minute,
    all,
    own,
    file / 2 ** 20,
    perSecond('writes'),
    perSecond('events'),
    counts.reopened,
    counts.failures,
    descriptorsOf(pid),
  ]
  process.stdout.write(`| ${cells.map((cell) => cell.toFixed(0).padStart(9)).join(' | ')} |\n`)
  return { resident: own, fileBytes: file }
}

function judge(samples: readonly Sample[], { failures }: Counts): string[] {
  const third = Math.max(1, Math.floor(samples.length / 3))
  const late = samples.slice(-third)
  const before = samples.slice(-2 * third, -third)
  const isPlateau = (name: keyof Sample) =>
    before.length === 0 ||
    isFlat(
      late.map((one) => one[name]),
      { before: before.map((one) => one[name]), within },
    )
  return [
    ...(failures === 0 ? [] : [`${failures} requests failed`]),
    ...(isPlateau('resident') ? [] : ['resident memory grows']),
    ...(isPlateau('fileBytes') ? [] : ['the data file grows']),
  ]
}

async function soak(server: OrchServer): Promise<string[]> {
  const counts: Counts = { writes: 0, events: 0, failures: 0, reopened: 0 }
  const stop = new AbortController()
  const connections = await openConnections(writers, server.port, server)
  for (let namespace = 0; namespace < namespaces; namespace++) {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceName(namespace) } }
    await expectStatus(connections[0]!, bodyRequest('POST', '/api/v1/namespaces', object), 201, counts)
  }
  for (let namespace = 0; namespace < namespaces; namespace++) {
    const session = await openSession(server.port, server)
    for (let watch = 0; watch < watchesPerNamespace; watch++) openWatch(session, namespace, counts, stop.signal)
  }
  const writing = Promise.all(connections.map((connection, writer) => write(connection, writer, counts, stop.signal)))
  const samples: Sample[] = []
  const sampling = async () => {
    for (let minute = 1; minute <= minutes; minute++) {
      const last = { ...counts }
      await sleep(60_000)
      samples.push(sample(minute, server, counts, last))
    }
    stop.abort()
  }
  await Promise.all([sampling(), writing])
  for (const connection of connections) connection.close()
  return judge(samples, counts)
}

async function main(): Promise<number> {
  const watches = namespaces * watchesPerNamespace
  process.stdout.write(
    `Node ${process.version}, ${writers} writers, ${watches} watches, --watch-history ${historySeconds}s; memory and file in MB\n\n`,
  )
  const heads = ['minute', 'resident', 'own', 'file', 'writes/s', 'events/s', 'reopened', 'failures', 'files open']
  process.stdout.write(`| ${heads.map((head) => head.padStart(9)).join(' | ')} |\n|${'---|'.repeat(heads.length)}\n`)
  const server = await startOrch({ flags: [`--watch-history=${historySeconds}s`] })
  const faults = await soak(server).finally(() => server.stop())
  process.stdout.write(`\n${faults.length === 0 ? 'no failure, memory and file reach a plateau' : faults.join('; ')}\n`)
  return faults.length === 0 ? 0 : 1
}

process.exitCode = await main()
// A TLS session with a stopped server is useless.
process.exit()
