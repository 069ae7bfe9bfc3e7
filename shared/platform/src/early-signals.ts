/** The signals that stop a server gracefully. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const

const end = () => process.exit(0)

/** Until `stopOnSignal` takes over, a signal ends the process at once, since a server that is still loading has nothing to close. */
export function endOnEarlySignals(): void {
  for (const signal of endingSignals) process.on(signal, end)
}

/** Ends the effect of `endOnEarlySignals`, so that the default or other listeners apply. */
export function leaveEarlySignals(): void {
  for (const signal of endingSignals) process.off(signal, end)
}
