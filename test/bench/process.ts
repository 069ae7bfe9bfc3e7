import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** CPU time of a process of this machine so far, user and system, in microseconds (in steps of 10 ms). */
export function cpuMicrosOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** A child process whose CPU time and memory the bench can read. */
export class Child {
  readonly process: ChildProcess
  #output = ''
  #lines: ((line: string) => void)[] = []

  constructor(args: readonly string[], env: Record<string, string> = {}, cwd = process.cwd()) {
    this.process = spawn(process.execPath, [...args], { stdio: ['pipe', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...env }, cwd })
    this.process.stderr?.on('data', (chunk) => this.#take(String(chunk)))
    this.process.stdout?.on('data', (chunk) => this.#take(String(chunk)))
  }

  #take(text: string): void {
    this.#output = (this.#output + text).slice(-65_536)
    for (const listener of this.#lines) listener(this.#output)
  }

  /** The first match in the process's output; fails if the process ends first. */
  async printed(pattern: RegExp): Promise<RegExpMatchArray> {
    return await new Promise((resolve, reject) => {
      const look = (output: string): void => {
        const match = output.match(pattern)
        if (match !== null) resolve(match)
      }
      look(this.#output)
      this.#lines.push(look)
      this.process.once('exit', (code) => reject(new Error(`process ended with ${code} before it printed ${pattern}:\n${this.#output}`)))
    })
  }

  /** CPU time of the process so far, user and system, in microseconds (in steps of 10 ms). */
  cpuMicros(): number {
    return cpuMicrosOf(this.process.pid ?? 0)
  }

  /** Resident memory in bytes. */
  rssBytes(): number {
    return Number(readFileSync(`/proc/${this.process.pid}/statm`, 'utf8').split(' ')[1]) * 4096
  }

  /** Private resident memory in bytes, without mapped file pages, which the system may reclaim. */
  anonBytes(): number {
    return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.process.pid}/status`, 'utf8'))?.[1]) * 1024
  }

  /** Highest resident memory in bytes since the process began or since `resetPeak`. */
  peakBytes(): number {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.process.pid}/status`, 'utf8'))?.[1]) * 1024
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    const ended = once(this.process, 'exit')
    this.process.kill(signal)
    await ended
  }

  /** The first message of the process; fails if the process ends first. */
  async told<T>(): Promise<T> {
    return await new Promise((resolve, reject) => {
      this.process.once('message', (message) => resolve(message as T))
      this.process.once('close', (code) => reject(new Error(`process ended with ${code} and has not said anything:\n${this.#output}`)))
    })
  }

  /** Sends a message and waits for an answer of this shape. */
  async ask<T>(message: unknown): Promise<T> {
    const answer = once(this.process, 'message')
    this.process.send(message as object)
    return (await answer)[0] as T
  }
}
