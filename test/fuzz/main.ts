/**
 * `npm run fuzz [-- --requests=300000 --seed=1 --from=0 --at-once=8 --profile=orch]`: starts a server and sends random requests. Fails if an answer
 * cannot come from a client's mistake. Prints the results and the longest stall of the server's event loop.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { Profile } from '@orch/core/names'
import { createDraw, type DrawnRequest } from './requests.ts'
import { type Fault, type Outcome, run } from './run.ts'

interface Stall {
  readonly cpuMs: number
  readonly wallMs: number
  readonly endedAt: number
}

type Message =
  | { readonly kind: 'ready'; readonly kubeconfig: string }
  | ({ readonly kind: 'stall' } & Stall)
  | { readonly kind: 'log'; readonly line: string }

/** The number of event loop turns that the report shows, the longest first. */
const stallsShown = 10
const recentMax = 64
const faultsShown = 30

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '300000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    from: { type: 'string', default: '0' },
    'at-once': { type: 'string', default: '8' },
    profile: { type: 'string', default: 'orch' },
  },
})
const seed = wholeNumber('seed')
const count = wholeNumber('requests')
const profile: Profile = values.profile === 'kubernetes' ? 'kubernetes' : 'orch'

function wholeNumber(name: 'seed' | 'requests' | 'from' | 'at-once'): number {
  const number = Number(values[name])
  if (Number.isSafeInteger(number) && number >= 0) return number
  process.stderr.write(`--${name}=${values[name]}: expected a whole number\n`)
  process.exit(1)
}

/** The requests in flight or just answered, to explain stalls at that time. */
const recent: { readonly index: number; readonly request: DrawnRequest; answeredAt: number }[] = []
const stalls: { stall: Stall; during: string[] }[] = []
const errors = new Map<string, number>()

process.stdout.write(`seed ${seed}, ${count} requests, profile ${profile}\n`)
const child = fork(new URL('server.ts', import.meta.url), [profile], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
const kubeconfig = await ready(child)
const begun = performance.now()
let answered = 0
const outcome = await run({
  kubeconfig,
  draw: createDraw(profile),
  seed,
  from: wholeNumber('from'),
  count,
  atOnce: Math.max(1, wholeNumber('at-once')),
  watch: {
    sent(index, request) {
      recent.push({ index, request, answeredAt: Number.POSITIVE_INFINITY })
      if (recent.length > recentMax) recent.shift()
    },
    answered(index) {
      const one = recent.find((entry) => entry.index === index)
      if (one !== undefined) one.answeredAt = Date.now()
      if (++answered % Math.ceil(count / 10) === 0) process.stdout.write(`${answered} answered\n`)
    },
  },
})
child.disconnect()
report(outcome)
process.exitCode = outcome.faults.length === 0 ? 0 : 1

function ready(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    server.on('exit', (code) => {
      reject(new Error(`the server ended with ${code}`))
      if (server.connected || answered < count)
        process.stderr.write(`the server ended with ${code}; under way: ${describeSince(Date.now()).join('\n')}\n`)
    })
    server.on('message', (message: Message) => {
      if (message.kind === 'ready') resolve(message.kubeconfig)
      else if (message.kind === 'stall') note(message)
      else errors.set(firstLines(message.line), (errors.get(firstLines(message.line)) ?? 0) + 1)
    })
  })
}

function note(stall: Stall): void {
  stalls.push({ stall, during: describeSince(stall.endedAt - stall.wallMs) })
  stalls.sort((left, right) => right.stall.cpuMs - left.stall.cpuMs)
  stalls.length = Math.min(stalls.length, stallsShown)
}

/** The requests that were unanswered before a moment; the longest bodies come first. */
function describeSince(ms: number): string[] {
  const during = recent.filter(({ answeredAt }) => answeredAt >= ms)
  during.sort((left, right) => (right.request.body?.length ?? 0) - (left.request.body?.length ?? 0))
  return during.map(({ index, request }) => `#${index} ${describe(request)}`)
}

function describe({ method, target, body }: DrawnRequest): string {
  return `${method} ${target.slice(0, 200)} ${body === undefined ? '' : `(${body.length} bytes)`}`
}

/** The message and the place of a logged error. */
function firstLines(line: string): string {
  const { err } = JSON.parse(line) as { err?: { stack?: string; message?: string } }
  return (err?.stack ?? line).split('\n').slice(0, 4).join('\n')
}

function report({ byStatus, excused, faults }: Outcome): void {
  const lines = [
    `${count} requests in ${Math.round((performance.now() - begun) / 1000)} s`,
    ...[...byStatus].sort(([left], [right]) => left - right).map(([status, times]) => `  ${status}: ${times}`),
    ...[...excused].map(([excuse, times]) => `  of these 5xx for ${excuse}: ${times}`),
    `longest turn of the loop: ${Math.round(stalls[0]?.stall.cpuMs ?? 0)} ms of CPU`,
    ...stalls.map(
      ({ stall, during }) =>
        `  ${Math.round(stall.cpuMs)} ms of CPU, ${Math.round(stall.wallMs)} ms; under way: ${during.slice(0, 4).join(' | ')}`,
    ),
    `${faults.length} answers that no client's mistake explains`,
    ...distinct(faults).slice(0, faultsShown).map(describeFault),
    ...[...errors]
      .sort(([, left], [, right]) => right - left)
      .slice(0, faultsShown)
      .map(([text, times]) => `logged ${times} times: ${text}`),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Keeps one error of each kind. */
function distinct(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [fault.answer.replace(/\d+/g, '0').slice(0, 120), fault])).values()]
}

function describeFault({ index, request, answer }: Fault): string {
  const body = request.body?.toString().slice(0, 600) ?? ''
  return `#${index} ${describe(request)} ${JSON.stringify(request.headers)}\n  body: ${body}\n  answer: ${answer.slice(0, 400)}`
}
