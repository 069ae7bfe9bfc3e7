import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** One write that the writer reports as durable. */
export interface Acknowledged {
  readonly number: number
  readonly revision: number
  readonly key: string
  readonly kind: string
}

/** All messages of a writer. */
interface Said {
  readonly acknowledged: Acknowledged[]
  readonly refused: { readonly number: number; readonly reason: string }[]
  /** The writer's error output. */
  errors: string
  /** The exit code, or the signal that ended the writer. */
  end: number | string
}

/** A running writer. */
export interface Writer {
  readonly child: ChildProcess
  readonly said: Said
  /** Resolves when a line begins with these words or the writer has ended. */
  seen(words: string, times?: number): Promise<void>
  readonly ended: Promise<Said>
}

/** The options of a writer. `under` contains words before the command, e.g. a tracer's command. */
export interface WriterOptions {
  readonly directory: string
  readonly first?: number
  readonly writes?: number
  readonly inFlight?: number
  readonly mode?: string
  readonly under?: readonly string[]
}

/** Starts `writer.ts` in a separate process. */
export function startWriter({ directory, first = 0, writes = 0, inFlight = 1, mode = '', under = [] }: WriterOptions): Writer {
  const script = fileURLToPath(new URL('./writer.ts', import.meta.url))
  const words = [
    ...under,
    process.execPath,
    '--conditions=source',
    '--no-warnings',
    script,
    directory,
    String(first),
    String(writes),
    String(inFlight),
    mode,
  ]
  const child = spawn(words[0]!, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  const said: Said = { acknowledged: [], refused: [], errors: '', end: '' }
  const counts = new Map<string, number>()
  const listeners = new Set<() => void>()
  const tell = () => {
    for (const listener of listeners) listener()
  }
  child.stderr.on('data', (bytes: Buffer) => {
    said.errors += bytes.toString()
  })
  createInterface(child.stdout).on('line', (line) => {
    const [word = '', number = '', ...rest] = line.split(' ')
    // The end of the process may cut the last line short; such a line does not count.
    if (word === 'ack' && rest.length === 3)
      said.acknowledged.push({ number: Number(number), revision: Number(rest[0]), key: rest[1]!, kind: rest[2]! })
    if (word === 'refused') said.refused.push({ number: Number(number), reason: rest.join(' ') })
    counts.set(word, (counts.get(word) ?? 0) + 1)
    tell()
  })
  const ended = new Promise<Said>((resolve) => {
    child.on('close', (code, signal) => {
      said.end = code ?? signal ?? ''
      tell()
      resolve(said)
    })
  })
  const seen = (word: string, times = 1) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if ((counts.get(word) ?? 0) < times && said.end === '') return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return { child, said, seen, ended }
}
