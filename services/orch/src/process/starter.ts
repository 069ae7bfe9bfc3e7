/** Maximum shutdown time of a process whose parent has ended, because no clients remain. */
const orphanStopMs = 5_000

/** A message of a process to `orch up --distributed`, which has started it. */
export type StarterMessage =
  | ({ readonly kind: 'ready' } & ReadyMessage)
  /** The process ends. `takenAddress` is a given address at which another program listens. */
  | { readonly kind: 'failed'; readonly reason: string; readonly takenAddress?: string }

/** The addresses of a ready process, by purpose: `{ address: '127.0.0.1:7100' }`. */
export type ReadyMessage = Readonly<Record<string, string>>

/** Resolves when the message is sent or the starter has ended; at once for a process without a starter. */
export function notifyStarter(message: StarterMessage): Promise<void> {
  if (!process.connected) return Promise.resolve()
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

/**
 * Ends this process shortly after `orch up --distributed`, which started it, has ended for any reason. If this process is already stopping, the
 * signal counts as a second one and ends it at once.
 */
export function endWithStarter(): void {
  if (process.send === undefined) return
  const end = () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), orphanStopMs).unref()
  }
  // The starter may have ended while this process was loading.
  if (!process.connected) return void end()
  process.once('disconnect', end)
  // Otherwise the channel would keep a process alive that failed to start.
  process.channel?.unref()
}
