import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { fileURLToPath } from 'node:url'
import { sleep, systemClock } from '@orch/platform'
import { cpuWaitMs } from './cpu-waits.ts'

/** The options of one process of a set. */
export interface ServiceProcessOptions {
  /** `storage-1`. */
  readonly name: string
  /** The arguments after `orch`. */
  readonly arguments: readonly string[]
  readonly readyUrl: string
  /** The authority of the certificate at the port for probes; absent: the port uses plain HTTP. */
  readonly authority: string | undefined
  readonly logFile: string
  /** True if the test can move the process's clock. */
  readonly isShiftable: boolean
}

/** A process of a set; it keeps its ports after a restart. */
export type ServiceProcess = ReturnType<typeof createServiceProcess>

/** The entry point of `npm start`; ORCH_CHAOS_SERVER names another entry point. */
const serverEntry = process.env['ORCH_CHAOS_SERVER'] ?? fileURLToPath(new URL('../../services/orch/dist/bundle/main.js', import.meta.url))
const shiftClock = new URL('./shift-clock.ts', import.meta.url).href
const nodeFlags = ['--max-semi-space-size=16', '--min-semi-space-size=8']
const shiftFlags = ['--no-warnings', `--import=${shiftClock}`]
/** The child processes, some perhaps paused. They would survive if this process ended too early. */
const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})
const pollMs = 20
const answerMsMax = 2_000
const unanswered = 'no answer in time'
const stopMsMax = 90_000

/** A process that the test can start, end and harm. */
export function createServiceProcess({ name, arguments: given, readyUrl, authority, logFile, isShiftable }: ServiceProcessOptions) {
  let child: ChildProcess | undefined
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const signal = async (one: 'SIGKILL' | 'SIGTERM') => {
    const running = child
    if (running === undefined || !isRunning()) return
    const ended = once(running, 'exit')
    running.kill(one)
    running.kill('SIGCONT')
    const killing = setTimeout(() => running.kill('SIGKILL'), stopMsMax)
    await ended
    clearTimeout(killing)
    living.delete(running)
  }
  return {
    name,
    get pid() {
      return child?.pid
    },
    get isRunning() {
      return isRunning()
    },
    /** Starts the process; `ready` reports when it is ready. */
    start() {
      if (isRunning()) return
      const file = openSync(logFile, 'a')
      child = spawn(process.execPath, [...nodeFlags, ...(isShiftable ? shiftFlags : []), serverEntry, ...given], {
        stdio: ['ignore', file, file, 'ipc'],
      })
      closeSync(file)
      living.add(child)
    },
    /**
     * Milliseconds from now until the process reports that it is ready, without the time in which it waited for a CPU. A busy machine makes as many checks
     * as an idle machine before this gives up.
     */
    async ready(limitMs: number) {
      const begun = performance.now()
      const waitedMs = cpuWaitMs(child?.pid)
      let why: string | undefined = 'it does not run'
      // A probe without an answer counts as many probes.
      for (let looks = 0; looks < limitMs / pollMs; looks += why === unanswered ? answerMsMax / pollMs : 1) {
        const exitCode = child?.exitCode ?? null
        if (exitCode !== null) throw new Error(`${name} has ended by itself, with ${exitCode}\n${lastWords(logFile)}`)
        if (isRunning()) why = await whyUnready(readyUrl, authority)
        if (why === undefined) {
          const tookMs = performance.now() - begun
          return Math.max(0, tookMs - (cpuWaitMs(child?.pid) - waitedMs))
        }
        await sleep(systemClock, pollMs)
      }
      throw new Error(
        `${name} was not ready at any of ${limitMs / pollMs} looks, ${pollMs} ms after one another: ${why}\n${lastWords(logFile)}`,
      )
    },
    kill: () => signal('SIGKILL'),
    /** Asks the process to end, and waits until it has ended. */
    stop: () => signal('SIGTERM'),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    /** Moves the process's clock. */
    shiftClock(shiftMs: number) {
      if (isRunning()) child?.send({ shiftMs })
    },
    /** CPU time of the process so far, user and system, in microseconds (in steps of 10 ms). */
    cpuMicros() {
      const fields = readFileSync(`/proc/${child?.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * 10_000
    },
    /** The log of the process so far. */
    log: () => readFileSync(logFile, 'utf8'),
    /** The metrics of a process that has a port for probes. */
    metrics: async () => (await fetch(new URL('/metrics', readyUrl))).text(),
  }
}

function lastWords(logFile: string): string {
  return readFileSync(logFile, 'utf8').slice(-1_500)
}

/** Undefined: the process is ready. Otherwise its message, or the reason why it did not answer. */
function whyUnready(url: string, authority: string | undefined): Promise<string | undefined> {
  const get = authority === undefined ? getHttp : getHttps
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: answerMsMax, ...(authority === undefined ? {} : { ca: authority }) }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('close', () => resolve(response.statusCode === 200 ? undefined : text))
    })
    request.once('timeout', () => request.destroy(new Error(unanswered)))
    request.once('error', ({ message }) => resolve(message))
  })
}
