/** The signals that end a server in order. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const

const end = () => process.exit(0)

/** A server that is still being loaded has nothing to close: until `stopOnSignal` takes over, a signal ends the process at once. */
export function endOnEarlySignals(): void {
  for (const signal of endingSignals) process.on(signal, end)
}

/** From here on a signal does again as it does by default, or as another listener says. */
export function leaveEarlySignals(): void {
  for (const signal of endingSignals) process.off(signal, end)
}
