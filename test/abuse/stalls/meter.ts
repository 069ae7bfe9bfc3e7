/** A shorter turn is idle: clocks of threads may count in steps of 4 ms. */
const idleMs = 9
/** The work is over after this time without a turn with work. */
const quietMs = 150

/** Measures the turns of this thread's event loop during the work and until its consequences are done. */
export async function measure(work: () => Promise<void>) {
  let stallMs = 0
  let totalMs = 0
  let turns = 0
  let isOver = false
  let lastBusy = performance.now()
  let last = cpuMs()
  const finished = new Promise<void>((resolve) => {
    const turn = () => {
      const now = cpuMs()
      const tookMs = now - last
      last = now
      if (tookMs > idleMs) {
        stallMs = Math.max(stallMs, tookMs)
        totalMs += tookMs
        turns += 1
        lastBusy = performance.now()
      }
      if (isOver && performance.now() - lastBusy > quietMs) resolve()
      else setImmediate(turn)
    }
    setImmediate(turn)
  })
  await work()
  isOver = true
  lastBusy = performance.now()
  await finished
  return {
    /** The longest turn of the event loop, in CPU milliseconds of its thread: it served no other request for this time. */
    stallMs,
    /** CPU milliseconds of all turns with work. */
    totalMs,
    /** The number of turns with work. */
    turns,
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
