/** Longest shutdown of a process whose parent has ended: there is no client left to serve. */
const orphanStopMs = 5_000

/** A message of a process to `orch up --distributed`, which has started it. */
export type StarterMessage =
  | ({ readonly kind: 'ready' } & ReadyMessage)
  /** The process ends. `takenAddress` is a given address at which another program listens. */
  | { readonly kind: 'failed'; readonly reason: string; readonly takenAddress?: string }

/** The addresses of a ready process, by purpose: `{ address: '127.0.0.1:7100' }`. */
export type ReadyMessage = Readonly<Record<string, string>>

/** Resolves when the message has left, or the starter has ended; at once if no other process of ours has started this one. */
export function notifyStarter(message: StarterMessage): Promise<void> {
  if (!process.connected) return Promise.resolve()
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

/**
 * A process that was started by `orch up --distributed` ends with it, however that ended: in order, but soon. One that is
 * ending already takes it for a second signal, and ends at once.
 */
export function endWithStarter(): void {
  if (process.send === undefined) return
  const end = () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), orphanStopMs).unref()
  }
  // It may have ended while this process was loaded.
  if (!process.connected) return void end()
  process.once('disconnect', end)
  // A listener would keep the process alive that could not start and has nothing more to do.
  process.channel?.unref()
}
