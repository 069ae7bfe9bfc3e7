/**
 * `npm run fuzz -- frames [--frames=100000 --seed=1 --from=0 --at-once=16]`: opens tunnels into a Pod over SPDY and WebSocket, and sends random invalid
 * frames. Fails if the server ends or logs an error, if a good command meanwhile fails or takes long, if the event loop is busy for more than 100 ms of
 * CPU, or if memory grows.
 */
import { fork } from 'node:child_process'
import { connect, type TLSSocket } from 'node:tls'
import { parseArgs } from 'node:util'
import { parseConfiguration } from '@orch/client'
import { WebSocket } from 'ws'
import { type DrawnTunnel, drawTunnel } from './draw.ts'
import { judge } from './judge.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    frames: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    from: { type: 'string', default: '0' },
    'at-once': { type: 'string', default: '16' },
  },
})
const [seed, framesMax] = [Number(values.seed), Number(values.frames)]
/** The client leaves a tunnel after this time of silence. */
const silentMs = 60
const openMsMax = 10_000
const goodPauseMs = 50

process.stdout.write(`seed ${seed}, ${framesMax} frames\n`)
const child = fork(new URL('server.ts', import.meta.url), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
const logged: string[] = []
const good: { result: string; waitedMs: number }[] = []
const opened: Record<string, number> = {}
let endedWith: number | null | undefined
let busiestMs = 0
let isOver = false
child.on('exit', (code) => {
  if (!isOver) endedWith = code
})
const { server, certificateAuthority: ca, clientCertificate: cert, clientKey: key } = await parseConfiguration(await ready())
const credentials = { ca, cert, key }
const { hostname, port } = new URL(server)
const begun = performance.now()
const goodCommands = runGood()
let residentMb: [number, number] = [0, 0]
const sent = await sendAll()
residentMb = [residentMb[0], await stateOf()]
isOver = true
await goodCommands
child.disconnect()
const faults = judge({ endedWith, logged, good, busiestMs, residentMb, opened })
const waits = good.map(({ waitedMs }) => waitedMs).sort((left, right) => left - right)
const lines = [
  `${sent} frames in ${Math.round((performance.now() - begun) / 1000)} s; opened: ${JSON.stringify(opened)}`,
  `${good.length} good commands, longest ${Math.round(waits.at(-1) ?? 0)} ms; loop busy for at most ${Math.round(busiestMs)} ms; memory ${residentMb.map(Math.round).join(' to ')} MB`,
  `${faults.length} faults`,
  ...faults.slice(0, 30),
]
process.stdout.write(`${lines.join('\n')}\n`)
process.exit(faults.length === 0 ? 0 : 1)

function ready(): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error('the server has ended')))
    child.on('message', (message: { kind: string; kubeconfig?: string; line?: string }) => {
      if (message.kind === 'ready') resolve(message.kubeconfig ?? '')
      else if (message.line !== undefined) logged.push(message.line.slice(0, 1000))
    })
  })
}

/** Returns the resident megabytes; records how long the event loop was busy since the last call. */
function stateOf(): Promise<number> {
  if (child.exitCode !== null) return Promise.resolve(0)
  return new Promise((resolve) => {
    child.on('message', function take(message: { kind: string; busiestMs: number; residentMb: number }) {
      if (message.kind !== 'state') return
      child.off('message', take)
      busiestMs = Math.max(busiestMs, message.busiestMs)
      resolve(message.residentMb)
    })
    child.send('state')
  })
}

/** Runs commands like a client, one after the other. */
async function runGood(): Promise<void> {
  while (!isOver && child.exitCode === null) {
    const startedMs = performance.now()
    const result = await goodCommand().catch((error: Error) => error.message)
    good.push({ result, waitedMs: performance.now() - startedMs })
    await new Promise((resolve) => setTimeout(resolve, goodPauseMs))
  }
}

function goodCommand(): Promise<string> {
  return new Promise((resolve, reject) => {
    const path = '/api/v1/namespaces/default/pods/web/exec?command=echo&command=hello&stdout=true'
    const client = new WebSocket(`${server.replace(/^https/, 'wss')}${path}`, ['v5.channel.k8s.io'], credentials)
    let text = ''
    client.on('message', (data: Buffer) => {
      if (data[0] === 1) text += data.toString('latin1', 1)
    })
    client.on('error', reject).on('close', () => resolve(text))
  })
}

async function sendAll(): Promise<number> {
  let [next, count, told] = [Number(values.from), 0, 0]
  const worker = async () => {
    while (count < framesMax && child.exitCode === null) {
      const drawn = drawTunnel(seed, next++)
      count += drawn.frames.length
      await sendOne(drawn)
      if (count - told < framesMax / 10) continue
      told = count
      const nowMb = await stateOf()
      if (residentMb[0] === 0) residentMb = [nowMb, nowMb]
      process.stdout.write(`${told} sent\n`)
    }
  }
  await Promise.all(Array.from({ length: Number(values['at-once']) }, worker))
  return count
}

/** Opens a tunnel, sends its frames when it is open, and leaves it after a silence. */
function sendOne({ kind, head, frames, isJoined, isCut, isDeaf }: DrawnTunnel): Promise<void> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ host: hostname, port: Number(port), ALPNProtocols: ['http/1.1'], ...credentials }, () =>
      socket.write(head),
    )
    let timer = setTimeout(() => socket.destroy(), openMsMax)
    let isOpen = false
    socket.on('data', (chunk) => {
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), silentMs)
      if (isOpen || !String(chunk).startsWith('HTTP/1.1 101')) return
      isOpen = true
      opened[kind] = (opened[kind] ?? 0) + 1
      if (isDeaf) socket.pause()
      for (const frame of isJoined ? [Buffer.concat(frames)] : frames) socket.write(frame)
      if (isCut) socket.write('', () => socket.destroy())
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
