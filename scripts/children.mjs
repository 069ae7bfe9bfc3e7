/** Runs a child in the foreground: its output is passed through, our signals are forwarded, and its exit code becomes ours. */
import { spawn } from 'node:child_process'

/** One Ctrl-C may arrive twice, from the terminal and from npm; within this time it counts once. */
const sameSignalMs = 300

/** Runs a child to its end and returns the exit code, or 128 + the signal number if a signal ended it. */
export async function runChild(command, args, options) {
  return (await runChildToEnd(command, args, options)).code
}

/** Like `runChild`, and also returns the signal that ended the child or reached this process meanwhile. */
export function runChildToEnd(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    let received
    // The handlers are set before the child exists: on a busy machine the child may run, and a signal may arrive, before this process continues.
    const stopForwarding = forwardSignals((signal) => {
      received ??= signal
      child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal)
    })
    const child = spawn(command, args, { stdio: 'inherit', detached: process.platform !== 'win32', ...options })
    child.once('error', (error) => {
      stopForwarding()
      reject(error)
    })
    child.once('exit', (code, signal) => {
      stopForwarding()
      resolve({ code: code ?? 128 + (signalNumbers[signal] ?? 0), signal: received ?? signal ?? undefined })
    })
  })
}

const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }

function forwardSignals(send) {
  const lastAt = new Map()
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      const now = performance.now()
      if (now - (lastAt.get(signal) ?? -Infinity) < sameSignalMs) return
      lastAt.set(signal, now)
      send(signal)
    }
    process.on(signal, handler)
    return { signal, handler }
  })
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler)
  }
}
