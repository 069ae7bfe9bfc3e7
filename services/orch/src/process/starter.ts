/** How long a process may take to shut down when its parent is gone: there is no client left to serve. */
const orphanStopMs = 5_000

/** What a process tells `orch up --distributed`, which has started it. */
export type StarterMessage =
  | ({ readonly kind: 'ready' } & ReadyMessage)
  /** The process ends. `takenAddress` is one that it was given and at which another program listens. */
  | { readonly kind: 'failed'; readonly reason: string; readonly takenAddress?: string }

/** Where a process that is ready is reached, by what is reached there: `{ address: '127.0.0.1:7100' }`. */
export type ReadyMessage = Readonly<Record<string, string>>

/** Resolves when the message is on its way, or the starter is gone; at once where no other process of ours has started this one. */
export function notifyStarter(message: StarterMessage): Promise<void> {
  if (!process.connected) return Promise.resolve()
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

/**
 * A process that was started by `orch up --distributed` ends with it, however that ended: in order, but soon. One that is
 * ending already takes it for a second signal, and ends at once.
 */
export function endWithStarter(): void {
  if (!process.connected) return
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), orphanStopMs).unref()
  })
  // A listener would keep the process alive that could not start and has nothing more to do.
  process.channel?.unref()
}
