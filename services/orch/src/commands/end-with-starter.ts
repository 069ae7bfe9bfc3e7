import { orphanStopMs } from '../limits.ts'

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
