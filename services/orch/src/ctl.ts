import { homedir } from 'node:os'
import { runCtl } from '@orch/ctl'
import type { Terminal } from './terminal.ts'

/** `orch ctl`, and the command `orchctl` of the package. */
export function ctl({ env, workingFolder, out, error }: Terminal, words: readonly string[]): Promise<number> {
  const ending = new AbortController()
  process.once('SIGINT', () => ending.abort())
  return runCtl({
    arguments: words,
    env,
    workingFolder,
    homeFolder: homedir(),
    isInteractive: process.stdin.isTTY === true,
    out,
    error,
    readInput,
    signal: ending.signal,
  })
}

async function readInput(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part)
  return Buffer.concat(parts).toString()
}
