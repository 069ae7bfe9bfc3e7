/**
 * `npm run fuzz -- heads [--requests=200000 --seed=1 --from=0 --at-once=16 --wait-max=1000]`: starts a server and sends random invalid requests over raw
 * sockets (HTTP/1.1, HTTP/2, WebSocket). Many go to a remote server with bad answers. Fails if the server ends, if a listener fails, or if a good
 * request meanwhile fails or waits longer than `--wait-max` milliseconds.
 */
import { fork } from 'node:child_process'
import { Agent, request as httpsRequest } from 'node:https'
import { connect } from 'node:tls'
import { parseArgs } from 'node:util'
import { type ClientConfiguration, parseConfiguration } from '@orch/client'
import { openBehind } from './behind.ts'
import { answerCount, behindPath, type DrawnConnection, drawConnection } from './draw.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    from: { type: 'string', default: '0' },
    'at-once': { type: 'string', default: '16' },
    'wait-max': { type: 'string', default: '1000' },
  },
})
const [seed, requests, waitMaxMs] = [Number(values.seed), Number(values.requests), Number(values['wait-max'])]
/** The longest wait for the first bytes of a connection. */
const firstMs = 1_000
/** After this time of silence a connection counts as answered. */
const silentMs = 40
/** The same time for requests that the server forwards. */
const silentBehindMs = 400
/** The longest silence in the middle of an answer. */
const answerMsMax = 10_000
/** The smallest share of the requests that must reach the remote server. */
const behindShareMin = 0.15
/** The time between two good requests. */
const goodPauseMs = 20

const faults: string[] = []
/** The number of HTTP/1.1 answers. */
const byStatus = new Map<string, number>()
const logged = new Map<string, number>()
process.stdout.write(`seed ${seed}, ${requests} requests\n`)
const behind = await openBehind(seed)
const child = fork(new URL('server.ts', import.meta.url), [behind.flag], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
let isOver = false
child.on('exit', (code) => {
  if (!isOver) faults.push(`the server has ended with ${code}`)
})
const configuration = await parseConfiguration(await ready())
const agent = new Agent({ keepAlive: true, ...credentialsOf(configuration, true) })
await register()
const begun = performance.now()
const good = askWell()
const sent = await sendAll()
isOver = true
const waits = await good
child.disconnect()
report()
process.exit(faults.length === 0 ? 0 : 1)

function ready(): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error('the server has ended')))
    child.on('message', (message: { kind: string; kubeconfig?: string; line?: string }) => {
      if (message.kind === 'ready') resolve(message.kubeconfig ?? '')
      else if (message.line !== undefined) note(message.line)
    })
  })
}

/** An error that an error boundary has caught is still a fault. */
function note(line: string): void {
  const { err, msg, path } = JSON.parse(line) as { err?: { stack?: string; code?: number }; msg?: string; path?: string }
  const text = `${msg}: ${(err?.stack ?? `${path} ${JSON.stringify(err)}`).split('\n').slice(0, 6).join('\n')}`
  // Clients request short time limits.
  if (err?.code !== 504) increment(logged, text)
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function credentialsOf({ certificateAuthority, clientCertificate, clientKey }: ClientConfiguration, isAdministrator: boolean) {
  return { ca: certificateAuthority, ...(isAdministrator ? { cert: clientCertificate, key: clientKey } : {}) }
}

function ask(method: string, path: string, body?: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = httpsRequest(new URL(path, configuration.server), { method, agent, headers }, (response) => {
      response
        .resume()
        .on('error', reject)
        .on('end', () => resolve(response.statusCode ?? 0))
    })
    request.setTimeout(answerMsMax, () => request.destroy(new Error(`not answered in ${answerMsMax} ms`)))
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Resolves when the remote server has received a request other than discovery. */
async function register(): Promise<void> {
  const status = await ask('POST', '/apis/apiregistration.orch.io/v1/apiservices', behind.apiService)
  if (status !== 201) throw new Error(`the APIService was answered ${status}`)
  while (behind.asked === 0) await ask('GET', `${behindPath}/flavors`).catch(() => 0)
}

/** Sends good requests, one after the other; returns the waiting times, sorted. */
async function askWell(): Promise<number[]> {
  const waited: number[] = []
  for (let index = 0; !isOver; index += 1) {
    const startedMs = performance.now()
    const path = ['/livez', '/api/v1/namespaces/default', '/api/v1/namespaces'][index % 3] ?? ''
    const status = await ask('GET', path).catch((error: Error) => error.message)
    waited.push(performance.now() - startedMs)
    if (status !== 200) faults.push(`GET ${path} was answered ${status}`)
    await new Promise((resolve) => setTimeout(resolve, goodPauseMs))
  }
  return waited.sort((left, right) => left - right)
}

async function sendAll(): Promise<number> {
  let [next, count, told] = [Number(values.from), 0, 0]
  const sessions = new Map<string, Buffer>()
  const worker = async () => {
    while (count < requests && child.exitCode === null && child.signalCode === null) {
      const drawn = drawConnection(seed, next++)
      count += drawn.requests
      await sendOne(drawn, sessions)
      if (count - told < requests / 10) continue
      told = count
      process.stdout.write(`${told} sent\n`)
    }
  }
  await Promise.all(Array.from({ length: Number(values['at-once']) }, worker))
  return count
}

/**
 * Sends all bytes of a connection, and reads until the connection ends or is silent. The client resumes TLS sessions because handshakes cost more than
 * requests.
 */
function sendOne({ protocol, isAdministrator, bytes, isBehind, isCut }: DrawnConnection, sessions: Map<string, Buffer>): Promise<void> {
  const { hostname, port } = new URL(configuration.server)
  const key = `${protocol} ${isAdministrator}`
  return new Promise((resolve) => {
    const known = sessions.get(key)
    const credentials = credentialsOf(configuration, isAdministrator)
    const socket = connect({
      host: hostname,
      port: Number(port),
      ALPNProtocols: [protocol],
      ...credentials,
      ...(known ? { session: known } : {}),
    })
    let timer = setTimeout(() => socket.destroy(), 10_000)
    const wait = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), ms)
    }
    socket.on('session', (session) => sessions.set(key, session))
    socket.on('secureConnect', () => {
      socket.write(bytes, () => void (isCut && socket.destroy()))
      wait(firstMs)
    })
    socket.on('data', (chunk) => {
      wait(isBehind ? silentBehindMs : silentMs)
      if (protocol === 'http/1.1') for (const [, status = ''] of String(chunk).matchAll(/^HTTP\/1\.1 (\d+)/gm)) increment(byStatus, status)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function report(): void {
  const longestMs = waits.at(-1) ?? 0
  const median = waits[Math.floor(waits.length / 2)] ?? 0
  const high = waits[Math.floor(waits.length * 0.99)] ?? 0
  const share = behind.asked / sent
  // The connections of a short run are too few for this check.
  if (sent >= 20_000 && share < behindShareMin) faults.push(`${Math.round(share * 100)} % of the requests have reached the server behind`)
  if (longestMs > waitMaxMs) faults.push(`a good request has waited ${Math.round(longestMs)} ms`)
  for (const [text, times] of logged) faults.push(`logged ${times} times: ${text}`)
  const lines = [
    `${sent} requests in ${Math.round((performance.now() - begun) / 1000)} s, ${behind.asked} of them (${Math.round(share * 100)} %) at the server behind, which has answered in each of its ${answerCount} ways ${Math.floor(behind.asked / answerCount)} times or more`,
    `answers over HTTP/1.1: ${[...byStatus]
      .sort()
      .map(([status, times]) => `${status}: ${times}`)
      .join(', ')}`,
    `${waits.length} good requests, waits: median ${median.toFixed(1)} ms, 99 % ${high.toFixed(1)} ms, longest ${longestMs.toFixed(1)} ms`,
    `${faults.length} faults`,
    ...faults.slice(0, 30),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
