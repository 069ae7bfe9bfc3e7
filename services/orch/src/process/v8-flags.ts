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

/** Flags that V8 reads only at its start, so they must be on Node.js' command line. */
export const youngHeapFlags: readonly string[] = [
  // The young heap begins at 12 MB, which saves an eighth of the start's CPU, and grows to 48 MB: it never shrinks by itself.
  '--max-semi-space-size=16',
  '--min-semi-space-size=8',
]

/** Flags that are set after the start: set earlier, they would make V8 reject Node.js' compiled code, which was built with other flags. */
const servingFlags: readonly string[] = [
  // Otherwise some objects of each request are allocated in the old heap, and keep their references until the next full collection.
  '--no-allocation-site-pretenuring',
  // Otherwise a write load causes a full collection after each 24 MB of stored objects, although none of them can be freed.
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
 * Flags of a process that serves other processes. Its old heap is small, and the external memory of its answers and messages would trigger a full
 * collection several times a second. A larger initial heap makes that rare, and uses memory only under load.
 */
const heapFlags: readonly string[] = ['--initial-old-space-size=200']

/** The flags of this process and those of a process that serves others; flags that the caller has set take precedence. */
export function withHeapFlags(given: readonly string[], env: Environment): string[] {
  const nameOf = (flag: string) => flag.split('=')[0]?.replaceAll('_', '-')
  const names = new Set(given.map(nameOf))
  return [...given, ...(isTuned(env) ? heapFlags.filter((flag) => !names.has(nameOf(flag))) : [])]
}

/** Calls back while Node.js offers `gc`. The flag is set only for the call: set at the start, it would make V8 reject Node.js' compiled code. */
export function withGarbageCollector(collect: () => void): void {
  setFlagsFromString('--expose-gc')
  collect()
  setFlagsFromString('--no-expose-gc')
}
