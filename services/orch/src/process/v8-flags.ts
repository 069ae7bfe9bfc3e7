import { setFlagsFromString } from 'node:v8'

/**
 * The flags of V8 for a process that serves, each with its reason. docs/explanation/v8.md has the figures. The environment variable
 * `ORCH_V8_FLAGS=default` keeps the settings of Node.js.
 */
type Environment = Readonly<Record<string, string | undefined>>

/** True unless the environment asks for the settings of Node.js. */
export function isTuned({ ORCH_V8_FLAGS: flags }: Environment): boolean {
  return flags !== 'default'
}

/** Flags that V8 reads only at its start, so Node.js gets them on its command line. */
export const youngHeapFlags: readonly string[] = [
  // Room for new objects begins at 12 MB, which spares the start an eighth of its CPU, and ends at 48 MB: it never shrinks by itself.
  '--max-semi-space-size=16',
  '--min-semi-space-size=8',
]

/** Flags that are set after the start: earlier, V8 would reject Node.js' compiled code, which other flags have produced. */
const servingFlags: readonly string[] = [
  // Otherwise some objects of each request are allocated in the old heap, and keep their references until the next full collection.
  '--no-allocation-site-pretenuring',
  // Otherwise full collections under writes come after each 24 MB of stored objects, of which they can free nothing.
  '--heap-growing-percent=100',
  // By default TurboFan compiles a function after 3,000 calls. Until then, and after each deoptimization, Maglev's slower code runs,
  // which is most of the time in the first half minute of writes.
  '--invocation-count-for-turbofan=800',
]

/** Sets the flags of a process that has started to serve. */
export function setServingFlags(): void {
  for (const flag of servingFlags) setFlagsFromString(flag)
}

/**
 * Flags of a process that serves other processes. Its old heap is small, and the memory of its answers and messages outside the heap makes
 * V8 collect it whole, several times a second: with room from the start that is rare. It costs memory only under work.
 */
const heapFlags: readonly string[] = ['--initial-old-space-size=200']

/** The flags of this process with those of a process that serves others, except for the caller's own choices. */
export function withHeapFlags(given: readonly string[], env: Environment): string[] {
  const nameOf = (flag: string) => flag.split('=')[0]?.replaceAll('_', '-')
  const names = new Set(given.map(nameOf))
  return [...given, ...(isTuned(env) ? heapFlags.filter((flag) => !names.has(nameOf(flag))) : [])]
}

/** Calls back while Node offers `gc`. The flag is set for so long alone: at the start it would keep Node's compiled code from being taken. */
export function withGarbageCollector(collect: () => void): void {
  setFlagsFromString('--expose-gc')
  collect()
  setFlagsFromString('--no-expose-gc')
}
